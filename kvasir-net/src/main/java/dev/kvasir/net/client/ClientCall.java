package dev.kvasir.net.client;

import dev.kvasir.Nullable;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;

/**
 * A request under way, and its answer; belongs to one loop.
 *
 * <pre>
 *   waiting --> sent --> answered --> over
 *      |          |          |
 *      '----------+----------'------> over: failed or cancelled
 * </pre>
 */
public final class ClientCall implements ClientAnswer {
  /** Hears how the call goes; nothing after {@link #cancel}, and nothing before it was returned. */
  public interface Listener {
    /** The head of an answer has come; whoever hears this reads the rest at once. */
    void answered(ClientAnswer answer);

    /** Nothing of the request was sent. */
    void unreachable(String why);

    /** Something of the request may have been sent, and no answer has begun. */
    void broke(String why);
  }

  final Target target;
  final ClientRequest request;
  final byte[] head;
  private final ConnectionPool pool;
  private final Listener listener;
  private @Nullable KeptConnection connection;
  private @Nullable AnswerHead answer;
  private @Nullable Reader reader;
  private boolean over;

  ClientCall(
      ConnectionPool pool, Target target, ClientRequest request, byte[] head, Listener listener) {
    this.pool = pool;
    this.target = target;
    this.request = request;
    this.head = head;
    this.listener = listener;
  }

  /** Gives it up wherever it is; its connection is closed unless the answer is whole. */
  public void cancel() {
    if (over) return;
    over = true;
    var sentBy = connection;
    if (sentBy == null) pool.forget(this);
    else sentBy.abandon();
  }

  boolean isOver() {
    return over;
  }

  void sentBy(KeptConnection sender) {
    connection = sender;
  }

  void unreachable(String why) {
    if (over) return;
    over = true;
    listener.unreachable(why);
  }

  void answered(AnswerHead head) {
    answer = head;
    listener.answered(this);
  }

  void came(Buffer part) {
    if (reader != null) reader.came(part);
  }

  void ended() {
    if (over) return;
    over = true;
    if (reader != null) reader.ended();
  }

  void broke(String why) {
    if (over) return;
    over = true;
    if (answer == null) listener.broke(why);
    else if (reader != null) reader.broke(why);
  }

  @Override
  public int status() {
    return begun().status();
  }

  @Override
  public MultiMap headers() {
    return begun().headers();
  }

  private AnswerHead begun() {
    if (answer == null) throw new IllegalStateException(target + " has not answered");
    return answer;
  }

  @Override
  public void read(Reader next) {
    reader = next;
  }

  @Override
  public void pause() {
    if (!over && connection != null) connection.pause();
  }

  @Override
  public void resume() {
    if (!over && connection != null) connection.resume();
  }
}
