package dev.kvasir.gateway.replica;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.net.Json;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.redis.RedisChannel;
import dev.kvasir.net.redis.RedisNode;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.router.replica.ReplicaSettings;
import dev.kvasir.router.replica.Replicas;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * A gateway among others in front of the same workers; they communicate over a channel of Redis.
 */
public final class ReplicaGroup implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ReplicaGroup.class.getName());
  private static final int LEAVE_SECONDS = 2;

  /** Metrics of what a gateway knows of the others. */
  public static final MetricSet<ReplicaGroup> METRICS =
      new MetricSet<ReplicaGroup>()
          .once(
              rows ->
                  rows.gauge(
                          "kvasir_replicas_joined",
                          "1 while this gateway hears the others, 0 while it continues alone.",
                          group -> group.replicas().isJoined() ? 1 : 0)
                      .gauge(
                          "kvasir_replicas_gateways",
                          "Gateways that share the limits of keys, this one included.",
                          group -> group.replicas().gateways())
                      .gauge(
                          "kvasir_replicas_refused",
                          "Gateways whose version or settings differ, so that they do not count.",
                          group -> group.replicas().refused().size())
                      .counter(
                          "kvasir_replicas_sent_total",
                          "Messages to the other gateways.",
                          group -> group.replicas().sent())
                      .counter(
                          "kvasir_replicas_heard_total",
                          "Messages of all gateways, its own included.",
                          group -> group.replicas().received())
                      .counter(
                          "kvasir_replicas_dropped_total",
                          "Messages that could not be sent.",
                          group -> group.channel().dropped())
                      .counter(
                          "kvasir_replicas_unreadable_total",
                          "Messages that are none, or are sealed by another secret.",
                          group -> group.unreadable.sum())
                      .counter(
                          "kvasir_replicas_sessions_dropped_total",
                          "Sessions whose worker was not reported: there were too many at once.",
                          group -> group.replicas().homesDropped()));

  private final LongAdder unreadable = new LongAdder();
  private final ReplicaCodec codec;
  private final Gateway gateway;
  private volatile @Nullable RedisChannel channel;
  private volatile @Nullable Replicas replicas;
  private volatile boolean unreadableLogged;

  /** When it joined; below zero before. */
  private volatile long joinedNanos = -1;

  private final Duration helloTime;

  /** Addresses at which other gateways are asked for what they know, by the gateways' names. */
  private final Map<String, String> addresses = new ConcurrentHashMap<>();

  private ReplicaGroup(Gateway gateway, NameKey secret, String address, Duration helloTime) {
    this.gateway = gateway;
    this.helloTime = helloTime;
    this.codec = new ReplicaCodec(secret, address);
  }

  /**
   * Has the gateway take part.
   *
   * @param server the Redis or Valkey
   * @param name of the channel: gateways of one channel belong together
   * @param secret by which messages are sealed, the same in all gateways
   * @param address where others ask for {@link IndexSnapshots}; empty where they cannot
   */
  public static ReplicaGroup join(
      Gateway gateway,
      ReplicaSettings settings,
      RedisNode server,
      String name,
      NameKey secret,
      String address) {
    var group = new ReplicaGroup(gateway, secret, address, settings.beat().multipliedBy(2));
    var opened = RedisChannel.open(server, name, group.new MessageReceiver());
    group.channel = opened;
    var joined = new CompletableFuture<Replicas>();
    gateway
        .loop()
        .execute(
            () ->
                joined.complete(
                    gateway
                        .parts()
                        .flow()
                        .join(
                            settings,
                            message -> opened.send(() -> group.codec.encode(message)),
                            group.new Reporter())));
    group.replicas = joined.join();
    gateway.addMetrics(METRICS.of(group));
    return group;
  }

  /** Returns the endpoint for whoever runs the gateway. */
  public static Endpoint endpoint(Supplier<Optional<ReplicaGroup>> group) {
    return Endpoint.get(
        "/gateways",
        Access.ADMIN,
        exchange ->
            group
                .get()
                .ifPresentOrElse(
                    present -> present.list(exchange),
                    () -> exchange.answer(200, "{\"joined\":false,\"gateways\":[]}")));
  }

  private void list(Exchange exchange) {
    gateway
        .loop()
        .execute(
            () -> {
              var all = Json.object();
              all.put("joined", replicas().isJoined());
              all.put("sharing", replicas().gateways());
              var names = all.putArray("gateways");
              replicas().peers().forEach(names::add);
              var refused = all.putObject("refused");
              replicas().refused().forEach(refused::put);
              var text = all.toString();
              exchange.context().runOnContext(_ -> exchange.answer(200, text));
            });
  }

  private final class MessageReceiver implements RedisChannel.Receiver {
    @Override
    public void received(byte[] message) {
      ReplicaGroup.this.receive(message);
    }

    @Override
    public void disconnected() {
      var target = replicas;
      if (target != null) gateway.loop().execute(target::disconnected);
    }
  }

  private void receive(byte[] bytes) {
    var received = codec.decode(bytes);
    var target = replicas;
    if (received != null && target != null) {
      gateway.loop().execute(() -> apply(target, received));
      return;
    }
    if (received != null) return;
    unreadable.increment();
    if (unreadableLogged) return;
    unreadableLogged = true;
    LOG.log(
        WARNING,
        "a gateway of the same channel has another routing.tenant-secret or another version: what"
            + " it tells does not count");
  }

  private void apply(Replicas target, ReplicaCodec.Received received) {
    var name = received.message().gateway();
    target.receive(received.message());
    addresses.keySet().retainAll(target.peers());
    boolean isKnown = !received.address().isEmpty() && target.peers().contains(name);
    if (isKnown) addresses.put(name, received.address());
  }

  /** Returns where the gateways that are known are asked for what they know; from any thread. */
  public List<String> addresses() {
    return List.copyOf(addresses.values());
  }

  /** Returns whether others may be there that have not been heard yet; from any thread. */
  public boolean isLooking() {
    long since = joinedNanos;
    return since < 0 || gateway.loop().nanos() - since < helloTime.toNanos();
  }

  private Replicas replicas() {
    var joined = replicas;
    if (joined == null) throw new IllegalStateException("not joined yet");
    return joined;
  }

  private RedisChannel channel() {
    var opened = channel;
    if (opened == null) throw new IllegalStateException("not joined yet");
    return opened;
  }

  private final class Reporter implements Replicas.Listener {
    @Override
    public void joined() {
      joinedNanos = gateway.loop().nanos();
      LOG.log(INFO, "the other gateways are heard: limits of keys are for all together");
    }

    @Override
    public void alone(int gateways) {
      LOG.log(
          WARNING,
          "the other gateways are not heard: going on alone, with the limits of keys divided by"
              + " {0}",
          gateways);
      channel().reconnect();
    }

    @Override
    public void came(String other) {
      LOG.log(INFO, "gateway {0} is there", other);
    }

    @Override
    public void went(String other) {
      LOG.log(INFO, "gateway {0} is gone", other);
    }

    @Override
    public void refused(String other, String why) {
      LOG.log(WARNING, "gateway {0} is refused: {1}", other, why);
    }
  }

  /** Tells the others that this one stops. */
  @Override
  public void close() {
    var left = new CompletableFuture<Boolean>();
    gateway
        .loop()
        .execute(
            () -> {
              replicas().leave();
              left.complete(true);
            });
    left.completeOnTimeout(false, LEAVE_SECONDS, TimeUnit.SECONDS).join();
    channel().close();
  }
}
