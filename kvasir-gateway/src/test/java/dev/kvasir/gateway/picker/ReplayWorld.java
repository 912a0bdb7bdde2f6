package dev.kvasir.gateway.picker;

import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.Json;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.router.flow.QueueLimits;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * A router with its flow in time that is told, and a way by which requests come to it: the proxy or
 * the picker. Each step is over before the next begins.
 */
abstract class ReplayWorld implements AutoCloseable {
  static final NameKey SECRET = NameKey.of("a secret that is the same in all worlds");
  static final String TENANT = "alice";

  final Network network = Network.open(2);
  final Gateway gateway;
  final Map<Integer, Boolean> placed = new ConcurrentHashMap<>();
  final Map<Integer, Boolean> refused = new ConcurrentHashMap<>();
  final Map<Integer, Boolean> ended = new ConcurrentHashMap<>();
  private final AtomicLong clock = new AtomicLong();

  /** Those that still waited when they were to end. */
  private final List<Integer> late = new ArrayList<>();

  private int requests;

  ReplayWorld(List<Worker> workers, ApiKeys keys, Path log) {
    var settings =
        GatewaySettings.of(0, workers)
            .at(HttpSettings.local(0).with(keys), HttpSettings.local(0))
            .with(Routing.DEFAULT.with(Routing.Naming.TOKENS))
            .with(new QueueLimits(20, 4, Duration.ofSeconds(5)))
            .with(new JournalFiles(log, null, null))
            .with("", SECRET)
            .probing(Duration.ofDays(1));
    var nothing = Gateway.Extensions.NOTHING;
    var extensions =
        new Gateway.Extensions(
            "",
            nothing.tieredCache(),
            List.of(),
            _ -> (_, _, body) -> Future.succeededFuture(tokens(body)),
            List.of());
    gateway = Gateway.start(network, settings, extensions, new LiveLoop("replayed", clock::get));
  }

  private static int[] tokens(byte[] body) {
    var prompt = Json.read(body).path("prompt");
    var tokens = new int[prompt.size()];
    for (int i = 0; i < tokens.length; i++) tokens[i] = prompt.get(i).asInt();
    return tokens;
  }

  <T> T onLoop(Supplier<T> question) {
    var answer = new CompletableFuture<T>();
    gateway.loop().execute(() -> answer.complete(question.get()));
    return answer.join();
  }

  /** It is so late now: what is due is done. */
  void at(long nanos) throws InterruptedException {
    clock.set(nanos);
    onLoop(() -> 0);
    settle();
    for (int number : List.copyOf(late)) {
      if (refused.containsKey(number)) late.remove(Integer.valueOf(number));
      else if (placed.containsKey(number)) end(number, 0);
    }
  }

  abstract void send(int number, String key, String body);

  abstract void sendFirst(int number) throws InterruptedException;

  abstract void sendEnd(int number, String last);

  final void sendRequest(int number, String key, String body) throws InterruptedException {
    requests++;
    send(number, key, body);
    settle();
  }

  /** The first token, where the request is with a worker. */
  final void first(int number) throws InterruptedException {
    if (!placed.containsKey(number)) return;
    sendFirst(number);
    settle();
  }

  final void end(int number, int cachedTokens) throws InterruptedException {
    if (!placed.containsKey(number)) {
      if (!refused.containsKey(number)) late.add(number);
      return;
    }
    late.remove(Integer.valueOf(number));
    ended.put(number, true);
    sendEnd(
        number,
        "data: {\"usage\":{\"prompt_tokens\":64,\"completion_tokens\":2,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":%d}}}\n\ndata: [DONE]\n\n"
                .formatted(cachedTokens));
    settle();
  }

  /** A worker tells that it has, or has no longer, the first blocks of a prompt. */
  final void events(String worker, int[] tokens, int blocks, boolean isStored) {
    var target = gateway.events(worker);
    var hasher = Gateway.hasher("", SECRET.salt(TENANT, ""));
    int size = gateway.blockTokens();
    var published = new ArrayList<KvEvent>();
    BlockHash parent = null;
    for (int i = 0; i < Math.min(blocks, tokens.length / size); i++) {
      var hash = hasher.hash(parent, tokens, i * size, (i + 1) * size, List.of());
      published.add(
          isStored
              ? new KvEvent.Stored(Tier.DEVICE, TokenBlock.named(hash, parent, i))
              : new KvEvent.Removed(Tier.DEVICE, hash));
      parent = hash;
    }
    // The last goes first, as an engine evicts.
    var ordered = isStored ? published : published.reversed();
    onLoop(
        () -> {
          ordered.forEach(target::on);
          return 0;
        });
  }

  /** Every request that was asked is where it has to be by now. */
  private void settle() throws InterruptedException {
    var flow = gateway.parts().flow();
    Eventually.ends(
        () ->
            onLoop(
                () ->
                    flow.inFlight() != placed.size() - ended.size()
                        || flow.waiting() != requests - placed.size() - refused.size()
                        || flow.counted() != flow.inFlight() + flow.waiting()));
  }

  @Override
  public void close() {
    gateway.close();
    network.close();
  }
}
