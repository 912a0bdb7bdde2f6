package dev.kvasir.gateway.picker;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.picker.EnvoyMessages.BodyEnd;
import dev.kvasir.gateway.picker.Proto.Malformed;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.server.BodyShare;
import io.vertx.core.buffer.Buffer;

/** The body of a request, which Envoy sends in pieces; within the bounds of the picker. */
final class PickedBody {
  private final int bytesMax;
  private BodyShare share = BodyShare.free();
  private Buffer bytes = Buffer.buffer();
  private @Nullable BodyEnd end;

  PickedBody(int bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Counts its bytes there from now on. */
  void use(BodyShare own) {
    share = own;
  }

  void add(Buffer piece) {
    if (isComplete()) throw new Malformed("a body that goes on after its end");
    if (bytes.length() + (long) piece.length() > bytesMax) {
      throw new Refused(ApiError.tooLarge(bytesMax));
    }
    share.reserve(piece.length());
    bytes = bytes.appendBuffer(piece);
  }

  void complete(BodyEnd by) {
    end = by;
  }

  boolean isComplete() {
    return end != null;
  }

  boolean hasTrailers() {
    return end == BodyEnd.TRAILERS;
  }

  Buffer bytes() {
    return bytes;
  }

  BodyShare share() {
    return share;
  }

  /** Forgets the body. */
  void release() {
    share.end();
    bytes = Buffer.buffer();
  }
}
