package dev.kvasir.tiers.host;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.kvasir.net.LiveLoop;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.disk.DiskStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Calls a store from its loop, and waits elsewhere for the answer. */
public final class Caller implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 60;

  public final LiveLoop loop = new LiveLoop("store test");

  public List<CopyOutcome> store(TierStore store, List<BlockCopy> copies) {
    return await(begin(store, copies));
  }

  public List<CopyOutcome> load(TierStore store, List<BlockCopy> copies) {
    var answer = new CompletableFuture<List<CopyOutcome>>();
    loop.execute(() -> store.load(copies, answer::complete));
    return await(answer);
  }

  public CompletableFuture<List<CopyOutcome>> begin(TierStore store, List<BlockCopy> copies) {
    var answer = new CompletableFuture<List<CopyOutcome>>();
    loop.execute(() -> store.store(copies, answer::complete));
    return answer;
  }

  public CopyOutcome sync(DiskStore store) {
    var answer = new CompletableFuture<CopyOutcome>();
    loop.execute(() -> store.sync(answer::complete));
    return await(answer);
  }

  public static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get(PATIENCE_SECONDS, SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError("no answer", e);
    }
  }

  @Override
  public void close() {
    loop.close();
  }
}
