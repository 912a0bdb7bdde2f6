package dev.kvasir.kv;

import dev.kvasir.kv.name.BlockHash;
import java.util.List;

/** Hears of the blocks that steps fill. */
public interface KvListener {
  /** Nobody listens. */
  KvListener NONE =
      new KvListener() {
        @Override
        public void filled(List<Block.Registered> blocks) {}

        @Override
        public Landing launched(List<BlockHash> names) {
          return Landing.UNHEARD;
        }
      };

  /** The blocks are filled, by a step that has landed; they are held during the call. */
  void filled(List<Block.Registered> blocks);

  /** A step is on its way that fills these blocks; what is returned hears how it ends. */
  Landing launched(List<BlockHash> names);

  /** Hears how a step ends that is on its way; one of both is called, once. */
  interface Landing {
    /** Nobody waits for it. */
    Landing UNHEARD =
        new Landing() {
          @Override
          public void landed() {}

          @Override
          public void failed() {}
        };

    /** The blocks are filled and registered. */
    void landed();

    /** The blocks were never filled, or were given back before. */
    void failed();
  }
}
