package dev.kvasir.tiers.s3;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/** Makes many requests at a time, but never more than so many. */
final class BoundedRequests implements AutoCloseable {
  /** A request about one of several things. */
  interface Request<K, R> {
    R make(K key) throws IOException;
  }

  /** Outcome of a request: what it returned, or why it did not. */
  sealed interface Result<R> {
    record Done<R>(R value) implements Result<R> {}

    record Failed<R>(String reason) implements Result<R> {}
  }

  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("kvasir-object-", 0).factory());
  private final Semaphore permits;

  BoundedRequests(int requestsMax) {
    this.permits = new Semaphore(requestsMax);
  }

  /** Makes the request for each; an interrupt ends them all. */
  <K, R> Map<K, Result<R>> each(List<K> keys, Request<K, R> request) throws IOException {
    var results = new LinkedHashMap<K, Result<R>>();
    if (keys.size() == 1) {
      results.put(keys.getFirst(), one(keys.getFirst(), request));
      return results;
    }
    var futures = new ArrayList<Future<Result<R>>>();
    try {
      for (var key : keys) futures.add(threads.submit(() -> one(key, request)));
      for (int i = 0; i < keys.size(); i++) results.put(keys.get(i), futures.get(i).get());
      return results;
    } catch (InterruptedException e) {
      throw new IOException("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a request failed without an outcome", e);
    } finally {
      for (var future : futures) future.cancel(true);
    }
  }

  private <K, R> Result<R> one(K key, Request<K, R> request) {
    try {
      permits.acquire();
    } catch (InterruptedException e) {
      return new Result.Failed<>("interrupted");
    }
    try {
      return new Result.Done<>(request.make(key));
    } catch (IOException e) {
      return new Result.Failed<>("" + e.getMessage());
    } finally {
      permits.release();
    }
  }

  /** Does it later, whoever waits or does not. */
  void later(Runnable task) {
    threads.execute(task);
  }

  /** Waits for what is under way. */
  @Override
  public void close() {
    threads.close();
  }
}
