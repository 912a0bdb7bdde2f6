package dev.kvasir.tierd.protocol;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;

/** The frames that the daemon sends. */
public final class TierReply {
  private static final int ERROR_TEXT_MAX = 1_024;

  private TierReply() {}

  public static ByteBuffer welcome(Namespace namespace, byte wants) {
    var digest = namespace.digest();
    return frame(TierProtocol.WELCOME, 14 + digest.length + 1)
        .putShort((short) TierProtocol.VERSION)
        .putInt(TierProtocol.FRAME_BYTES_MAX)
        .putInt(TierProtocol.KEYS_MAX)
        .putInt(TierProtocol.REQUESTS_MAX)
        .put(digest)
        .put(wants)
        .flip();
  }

  public static ByteBuffer found(long id, byte[] each) {
    return answer(TierProtocol.FOUND, id, each);
  }

  public static ByteBuffer done(long id, byte[] each) {
    return answer(TierProtocol.DONE, id, each);
  }

  public static ByteBuffer report(long id, String json) {
    return answer(TierProtocol.TOLD, id, json.getBytes(UTF_8));
  }

  public static ByteBuffer error(ProtocolError error) {
    var message = String.valueOf(error.getMessage());
    var text = message.substring(0, Math.min(message.length(), ERROR_TEXT_MAX)).getBytes(UTF_8);
    return frame(TierProtocol.ERROR, 4 + text.length)
        .putShort((short) error.kind().code())
        .putShort((short) text.length)
        .put(text)
        .flip();
  }

  private static ByteBuffer answer(byte type, long id, byte[] each) {
    return frame(type, 12 + each.length).putLong(id).putInt(each.length).put(each).flip();
  }

  private static ByteBuffer frame(byte type, int body) {
    return ByteBuffer.allocate(TierProtocol.HEAD_BYTES + 1 + body)
        .order(LITTLE_ENDIAN)
        .putInt(1 + body)
        .put(type);
  }
}
