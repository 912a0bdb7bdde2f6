package dev.kvasir.gateway.worker;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.auth.Caller;
import dev.kvasir.net.server.Reply;
import dev.kvasir.net.worker.WorkerMessage;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A call of an engine in this process: the engine answers it as a {@link Reply}, the gateway reads
 * it as a {@link WorkerAnswer}. Belongs to the loop of the call.
 *
 * <pre>
 *   waiting --answer, fail, writeHead--> begun --end--> over: the reader has all
 *      | reset                             | reset --> over: the reader hears that it broke
 *      '--> over: the call failed          |
 *   giveUp, from either -------------------'--> over: nobody reads, and the engine stops
 * </pre>
 *
 * <p>While the reader pauses, the engine keeps what it has; {@link
 * dev.kvasir.net.server.EventStream} bounds that.
 */
final class LocalAnswer implements Reply, WorkerAnswer {
  private final Context context;
  private final WorkerMessage message;
  private final Consumer<WorkerAnswer> begins;
  private final Consumer<String> fails;
  private final List<Runnable> atEnd = new ArrayList<>();
  private final MultiMap headers = MultiMap.caseInsensitiveMultiMap();
  private int status;
  private @Nullable Reader reader;
  private @Nullable Runnable drained;
  private boolean paused;
  private boolean over;

  /**
   * A call that waits for its answer.
   *
   * @param begins hears that the head of the answer is there
   * @param fails hears that there will be none
   */
  LocalAnswer(
      Context context,
      WorkerMessage message,
      Consumer<WorkerAnswer> begins,
      Consumer<String> fails) {
    this.context = context;
    this.message = message;
    this.begins = begins;
    this.fails = fails;
  }

  @Override
  public Context context() {
    return context;
  }

  /** The gateway has checked who calls, and salts prompts for its tenants. */
  @Override
  public Caller caller() {
    return Caller.ANYONE;
  }

  @Override
  public String path() {
    return message.path();
  }

  @Override
  public @Nullable String header(String name) {
    return message.headers().get(name);
  }

  @Override
  public Buffer body() {
    return message.body();
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public void whenOver(Runnable task) {
    if (over) task.run();
    else atEnd.add(task);
  }

  /** The call has its own limits of time from the start. */
  @Override
  public void handOver() {}

  @Override
  public void answer(int code, String contentType, Buffer content) {
    if (over || status != 0) return;
    headers.set(HttpHeaders.CONTENT_TYPE, contentType);
    begin(code);
    end(content);
  }

  @Override
  public void fail(ApiError error) {
    if (over) return;
    if (status != 0) {
      reset();
      return;
    }
    if (error.retryAfterSeconds() > 0) {
      headers.set(HttpHeaders.RETRY_AFTER, Long.toString(error.retryAfterSeconds()));
    }
    answer(error.status(), error.json());
  }

  @Override
  public void writeHead(Map<String, String> fields) {
    if (over) return;
    headers.addAll(fields);
    begin(200);
  }

  private void begin(int code) {
    status = code;
    begins.accept(this);
  }

  @Override
  public void write(Buffer part) {
    var to = reader;
    if (!over && to != null) to.came(part);
  }

  @Override
  public void end(Buffer part) {
    if (part.length() > 0) write(part);
    var to = reader;
    if (over) return;
    leave();
    if (to != null) to.ended();
  }

  @Override
  public void truncate() {
    end(Buffer.buffer());
  }

  @Override
  public void reset() {
    if (over) return;
    var to = reader;
    leave();
    var why = "the engine broke off";
    if (status == 0) fails.accept(why);
    else if (to != null) to.broke(why);
  }

  @Override
  public void giveUp() {
    leave();
  }

  private void leave() {
    if (over) return;
    over = true;
    reader = null;
    drained = null;
    for (var task : atEnd) task.run();
    atEnd.clear();
  }

  @Override
  public int status() {
    return status;
  }

  @Override
  public MultiMap headers() {
    return headers;
  }

  @Override
  public void read(Reader next) {
    if (!over) reader = next;
  }

  @Override
  public void pause() {
    paused = true;
  }

  @Override
  public void resume() {
    paused = false;
    var task = drained;
    drained = null;
    if (task != null) task.run();
  }

  @Override
  public boolean isFull() {
    return paused;
  }

  @Override
  public void whenDrained(Runnable task) {
    drained = task;
  }
}
