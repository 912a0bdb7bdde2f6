package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;

/**
 * A block in one state of its life.
 *
 * <pre>
 *   Empty --begin--> Partial --addTokens--> Ready --scheduleCompute--> Inflight
 *     |                 ^  ^                  |                           |
 *     |                 |  '--cancelSchedule--'                      computeDone
 *     |                 '---------------------(not full)------------------+
 *     |                                                                   |
 *     |                      Registered <--register-- Complete <--(full)--'
 *     '--receive----------------^
 * </pre>
 *
 * A transition invalidates its handle and returns the next one. An illegal transition does not
 * compile; a repeated one throws, with its values. A refused transition leaves its handle valid.
 * {@link #release} is possible in every state and gives the block back.
 */
public abstract sealed class Block {
  // Not final, though they never change: a constructor that sets final fields ends with a
  // barrier,
  // across which the pool's own fields would have to be read again for every block.
  BlockPool pool;
  int id;

  private Block(BlockPool pool, int id) {
    this.pool = pool;
    this.id = id;
  }

  /** Returns the number of the block in its pool: 0 to the pool's total - 1. */
  public final int id() {
    return id;
  }

  public final BlockPool pool() {
    return pool;
  }

  /** Gives the block back: unregistered content is forgotten, a registered block loses a hold. */
  public abstract void release();

  final String state() {
    return getClass().getSimpleName();
  }

  @Override
  public final String toString() {
    return pool.tier() + " block " + id + " " + state();
  }

  /** A block with one owner. Each transition invalidates its handle. */
  public abstract static sealed class Owned extends Block {
    private int turn;

    private Owned(BlockPool pool, int id) {
      this(pool, id, pool.turn(id));
    }

    private Owned(BlockPool pool, int id, int turn) {
      super(pool, id);
      this.turn = turn;
    }

    final void check() {
      if (pool.turn(id) != turn) {
        throw new IllegalStateException(pool.tier() + " block " + id + " already left " + state());
      }
    }

    final void spend() {
      check();
      pool.advance(id);
    }

    @Override
    public final void release() {
      spend();
      pool.discard(id);
    }
  }

  /** Block that a computation leaves behind: a {@link Partial} or a {@link Complete} one. */
  public sealed interface Computed permits Partial, Complete {}

  /** A block without content, just allocated. */
  public static final class Empty extends Owned {
    Empty(BlockPool pool, int id, int turn) {
      super(pool, id, turn);
    }

    /** Takes the block for tokens that will be computed here. */
    public Partial begin() {
      spend();
      pool.fill(id, 0, 0);
      return new Partial(pool, id);
    }

    /** Registers content that was computed elsewhere and has been copied here. */
    public Registered receive(TokenBlock content) {
      check();
      pool.checkLength(id, content);
      return pool.register(id, content);
    }

    /** Registers content that was copied here from another tier. This does not count as a use. */
    public Registered receiveMoved(TokenBlock content) {
      check();
      pool.checkLength(id, content);
      return pool.registerMoved(id, content);
    }
  }

  /** A block with room for more tokens; those it has are computed. */
  public static final class Partial extends Owned implements Computed {
    private Partial(BlockPool pool, int id) {
      super(pool, id);
    }

    /** Returns the number of its tokens that are computed. */
    public int computed() {
      check();
      return pool.computed(id);
    }

    public int space() {
      check();
      return pool.blockTokens() - pool.filled(id);
    }

    /** Adds tokens that wait to be computed. */
    public Ready addTokens(int count) {
      check();
      pool.fillMore(id, count);
      pool.advance(id);
      return new Ready(pool, id);
    }
  }

  /** A block with tokens that wait to be computed. */
  public static final class Ready extends Owned {
    private Ready(BlockPool pool, int id) {
      super(pool, id);
    }

    public int space() {
      check();
      return pool.blockTokens() - pool.filled(id);
    }

    /** Returns the number of its tokens that wait to be computed. */
    public int waiting() {
      check();
      return pool.filled(id) - pool.computed(id);
    }

    /** Adds more tokens before the computation begins. */
    public Ready addTokens(int count) {
      check();
      pool.fillMore(id, count);
      pool.advance(id);
      return new Ready(pool, id);
    }

    public Inflight scheduleCompute() {
      spend();
      return new Inflight(pool, id);
    }

    /** Forgets the tokens that waited. */
    public Partial cancelSchedule() {
      spend();
      pool.fill(id, pool.computed(id), pool.computed(id));
      return new Partial(pool, id);
    }
  }

  /** A block whose waiting tokens are being computed. */
  public static final class Inflight extends Owned {
    private Inflight(BlockPool pool, int id) {
      super(pool, id);
    }

    /** The tokens are computed: the block is complete if it is full. */
    public Computed computeDone() {
      spend();
      int filled = pool.filled(id);
      pool.fill(id, filled, filled);
      return filled == pool.blockTokens() ? new Complete(pool, id) : new Partial(pool, id);
    }
  }

  /** A full, computed block that is not registered yet. */
  public static final class Complete extends Owned implements Computed {
    private Complete(BlockPool pool, int id) {
      super(pool, id);
    }

    /** Makes the block known under its hash, for others to share; it cannot change any more. */
    public Registered register(TokenBlock content) {
      check();
      pool.checkLength(id, content);
      return pool.register(id, content);
    }
  }

  /** One hold on a registered block. A held block is not evicted. */
  public static final class Registered extends Block {
    /** Null once the hold is released: the one field says both, and keeps the handle small. */
    private @Nullable BlockHash hash;

    Registered(BlockPool pool, int id, BlockHash hash) {
      super(pool, id);
      this.hash = hash;
    }

    public BlockHash hash() {
      var known = hash;
      if (known == null) {
        throw new IllegalStateException(pool.tier() + " block " + id + " was released already");
      }
      return known;
    }

    /**
     * Returns the content of the block: its place in the chain, and its tokens where they are
     * known.
     */
    public TokenBlock content() {
      hash();
      return pool.content(id);
    }

    /** Another hold on the same block, which is released separately. */
    public Registered share() {
      var known = hash();
      pool.holdAgain(id);
      return new Registered(pool, id, known);
    }

    /** A name for the block that does not keep it from being evicted. */
    public WeakBlock weak() {
      return new WeakBlock(pool, hash());
    }

    /** Sets what happens to the block after its last release; the latest call counts. */
    public void onRelease(PoolSettings.Release release) {
      hash();
      pool.onRelease(id, release);
    }

    @Override
    public void release() {
      var known = hash();
      hash = null;
      pool.releaseHold(id, known);
    }
  }
}
