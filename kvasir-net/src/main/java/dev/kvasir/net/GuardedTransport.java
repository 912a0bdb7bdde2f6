package dev.kvasir.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.net.TcpConfig;
import io.vertx.core.spi.transport.Transport;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

/**
 * A transport of which servers hear of connections as soon as they are there.
 *
 * <p>Vert.x tells of one that speaks HTTP/2 only when it has said so, and of one that is silent
 * never.
 */
public final class GuardedTransport implements Transport {
  private final Transport transport;
  private final Map<Integer, Consumer<Channel>> guards = new ConcurrentHashMap<>();

  public GuardedTransport(Transport transport) {
    this.transport = transport;
  }

  /** Returns whether it is one of the kernel's own. */
  public boolean isNative() {
    var plain = io.vertx.core.transport.Transport.NIO.implementation();
    return !transport.getClass().equals(plain.getClass());
  }

  /** Tells of each connection to the port, before anything is read from it. */
  public void guard(int port, Consumer<Channel> guard) {
    guards.put(port, guard);
  }

  public void unguard(int port) {
    guards.remove(port);
  }

  private final class Accepting extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof Channel child
          && context.channel().localAddress() instanceof InetSocketAddress here) {
        var guard = guards.get(here.getPort());
        if (guard != null) guard.accept(child);
      }
      context.fireChannelRead(message);
    }
  }

  @Override
  public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
    var made = transport.serverChannelFactory(domainSocket);
    return () -> {
      var channel = made.newChannel();
      channel.pipeline().addFirst(new Accepting());
      return channel;
    };
  }

  @Override
  public boolean supportsDomainSockets() {
    return transport.supportsDomainSockets();
  }

  @Override
  public boolean supportFileRegion() {
    return transport.supportFileRegion();
  }

  @Override
  public boolean isAvailable() {
    return transport.isAvailable();
  }

  @Override
  public Throwable unavailabilityCause() {
    return transport.unavailabilityCause();
  }

  @Override
  public java.net.SocketAddress convert(SocketAddress address) {
    return transport.convert(address);
  }

  @Override
  public SocketAddress convert(java.net.SocketAddress address) {
    return transport.convert(address);
  }

  @Override
  public IoHandlerFactory ioHandlerFactory() {
    return transport.ioHandlerFactory();
  }

  @Override
  public EventLoopGroup eventLoopGroup(int type, int count, ThreadFactory threads, int ratio) {
    return transport.eventLoopGroup(type, count, threads, ratio);
  }

  @Override
  @SuppressWarnings("deprecation") // Vert.x has no other.
  public DatagramChannel datagramChannel(InternetProtocolFamily family) {
    return transport.datagramChannel(family);
  }

  @Override
  public ChannelFactory<? extends DatagramChannel> datagramChannelFactory() {
    return transport.datagramChannelFactory();
  }

  @Override
  public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
    return transport.channelFactory(domainSocket);
  }

  @Override
  public void configure(DatagramChannel channel, DatagramSocketOptions options) {
    transport.configure(channel, options);
  }

  @Override
  public void configure(TcpConfig config, boolean domain, io.netty.bootstrap.Bootstrap bootstrap) {
    transport.configure(config, domain, bootstrap);
  }

  @Override
  public void configure(
      TcpConfig config, boolean domain, io.netty.bootstrap.ServerBootstrap bootstrap) {
    transport.configure(config, domain, bootstrap);
  }
}
