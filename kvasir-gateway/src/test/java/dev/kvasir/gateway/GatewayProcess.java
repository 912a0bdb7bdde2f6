package dev.kvasir.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.Records;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.router.flow.QueueLimits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A gateway in a process of its own, so that its memory can be told from that of others. */
final class GatewayProcess {
  private static final int AT_ONCE = 16_384;

  /** More than a machine with other things to do needs for anything. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final String PEAK = "VmHWM:";

  private final Process process;
  private final BufferedReader out;
  private final int port;

  private GatewayProcess(Process process) throws IOException {
    this.process = process;
    this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    this.port = Integer.parseInt(line());
  }

  static GatewayProcess start(List<String> workers) throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx1g", "-XX:+UseCompactObjectHeaders"));
    command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(GatewayProcess.class.getName());
    command.addAll(workers);
    var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
    return new GatewayProcess(builder.start());
  }

  int port() {
    return port;
  }

  /** Ends it; returns the most memory it ever had, in bytes, or 0 where that is not told. */
  long stop() throws IOException, InterruptedException {
    process.getOutputStream().close();
    long bytes = Long.parseLong(line()) << 10;
    process.waitFor();
    return bytes;
  }

  private String line() throws IOException {
    var line = out.readLine();
    if (line == null) throw new IOException("the gateway ended: " + process.onExit().join());
    return line;
  }

  public static void main(String[] workers) throws IOException {
    try (var network = Network.open(2)) {
      var settings =
          GatewaySettings.of(0, List.of(workers).stream().map(Worker::of).toList())
              .with(new QueueLimits(AT_ONCE, AT_ONCE, PATIENCE))
              .with(
                  Records.with(
                      FailureRules.DEFAULT,
                      "firstTime",
                      PATIENCE,
                      "silenceTime",
                      PATIENCE,
                      "failuresMax",
                      AT_ONCE,
                      "restTime",
                      PATIENCE))
              .probing(PATIENCE);
      try (var gateway = Gateway.start(network, settings)) {
        System.out.println(gateway.port());
        var _ = System.in.read();
        System.out.println(peakKibibytes());
      }
    }
  }

  private static long peakKibibytes() throws IOException {
    var status = Path.of("/proc/self/status");
    if (!Files.exists(status)) return 0;
    for (var line : Files.readAllLines(status)) {
      if (line.startsWith(PEAK)) return Long.parseLong(line.replaceAll("\\D", ""));
    }
    return 0;
  }
}
