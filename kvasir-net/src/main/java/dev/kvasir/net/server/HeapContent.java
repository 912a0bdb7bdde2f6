package dev.kvasir.net.server;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * Copies the parts of bodies into the heap before Vert.x gets them.
 *
 * <p>While a connection is not read from, as when requests come before the last one is answered,
 * Vert.x keeps the parts that have come, and forgets them when the connection closes. Memory
 * outside the heap would then be lost for good. Vert.x copies such parts itself otherwise, so that
 * this costs nothing more.
 */
final class HeapContent extends ChannelInboundHandlerAdapter {
  private static final String NAME = "kvasir-heap-content";

  private HeapContent() {}

  /** From now on, on this connection; to be called as soon as there is one. */
  static void use(HttpConnection connection) {
    if (!(connection instanceof ConnectionBase base)) return;
    var vertx = base.channelHandlerContext();
    vertx.pipeline().addBefore(vertx.name(), NAME, new HeapContent());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpContent part && part.content().isReadable()) {
      context.fireChannelRead(copied(part));
    } else {
      context.fireChannelRead(message);
    }
  }

  private static HttpContent copied(HttpContent part) {
    try {
      // One that can grow: bodies are put together by adding to their first part.
      var bytes = Unpooled.buffer(part.content().readableBytes());
      return part.replace(bytes.writeBytes(part.content()));
    } finally {
      part.release();
    }
  }
}
