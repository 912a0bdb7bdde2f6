package dev.kvasir.bench.proxy;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Proxies for the same worker, each in a process of its own: how many short streams a second pass
 * through each, how many in the first seconds of its life, and how much memory and processor time
 * it takes.
 *
 * <p>Arguments are NAME=COMMAND; in a command {port} is where to listen, {worker} and {events} the
 * ports of the worker, {spare} any free port. The name nginx needs no command. Ratios are to the
 * first one. scripts/proxy-peers has the commands, and tells the properties.
 */
public final class PeersBench {
  private static final int ROUNDS = Integer.getInteger("rounds", 5);
  private static final int LOOPS = Integer.getInteger("loops", 1);
  private static final int WARM_SECONDS = Integer.getInteger("warm", 10);
  private static final int LIMIT_SECONDS = Integer.getInteger("limit", Integer.MAX_VALUE);

  private final List<PeersWay> ways = new ArrayList<>();
  private final long startNanos = System.nanoTime();

  private PeersBench() {}

  public static void main(String[] arguments) throws Exception {
    new PeersBench().run(arguments);
  }

  private void run(String[] arguments) throws Exception {
    var vertxs = new ArrayList<Vertx>();
    var one = new VertxOptions().setEventLoopPoolSize(1);
    for (int i = 0; i < LOOPS; i++) vertxs.add(Vertx.vertx(one));
    var folder = System.getProperty("tokenizer");
    var worker = ProxyProcess.start(PeersWorker.class, List.of(folder, "" + LOOPS));
    try {
      var ports = PeersWorker.Ports.read(ProxyProcess.firstLine(worker));
      var load = new StreamLoad(vertxs);
      // The worker and the callers are warm before the first proxy begins.
      load.run(ports.port(), PeersWay.MANY, 0, WARM_SECONDS * 1_000);
      for (var argument : arguments) begin(argument, ports, load);
      for (int round = 0; round < ROUNDS && isTime("round " + (round + 1)); round++) {
        for (var way : ways) way.measure(load);
      }
      for (var way : ways) way.finish();
      new PeersReport(ways).print();
    } finally {
      for (var way : ways) way.close();
      worker.destroy();
      for (var vertx : vertxs) vertx.close().await();
    }
  }

  private void begin(String argument, PeersWorker.Ports ports, StreamLoad load) throws Exception {
    int at = argument.indexOf('=');
    var name = at < 0 ? argument : argument.substring(0, at);
    if (!isTime(name)) return;
    try {
      // What callers and worker have not compiled for this proxy would count as its own cold start.
      try (var first = start(name, argument.substring(at + 1), ports)) {
        load.run(first.port(), PeersWay.FEW, 0, WARM_SECONDS * 1_000);
      }
      var way = new PeersWay(name, start(name, argument.substring(at + 1), ports));
      ways.add(way);
      way.begin(load, WARM_SECONDS);
    } catch (IllegalStateException e) {
      System.out.printf(Locale.ROOT, "%s is left out: %s%n", name, e.getMessage());
    }
  }

  private static ProxyProcess start(String name, String command, PeersWorker.Ports ports)
      throws IOException, InterruptedException {
    return name.equals(command)
        ? ProxyProcess.nginx(ports.port())
        : ProxyProcess.command(ports.fill(command), name);
  }

  private boolean isTime(String what) {
    long seconds = (System.nanoTime() - startNanos) / 1_000_000_000L;
    if (seconds < LIMIT_SECONDS) return true;
    System.out.printf(Locale.ROOT, "%s is left out: %d s are over%n", what, LIMIT_SECONDS);
    return false;
  }
}
