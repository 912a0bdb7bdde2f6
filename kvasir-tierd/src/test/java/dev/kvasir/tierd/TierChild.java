package dev.kvasir.tierd;

import dev.kvasir.tierd.settings.TierSettings;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A daemon in a process of its own, to be killed. */
final class TierChild {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);

  private TierChild() {}

  /** Starts it, with the socket and folder in that folder, and waits until it listens. */
  static Process start(Path temp, long hostBytes, long diskBytes) throws IOException {
    var command = command();
    command.addAll(List.of(temp.toString(), "" + hostBytes, "" + diskBytes));
    var child = new ProcessBuilder(command).redirectErrorStream(true);
    var process = child.redirectOutput(temp.resolve("daemon.log").toFile()).start();
    for (int i = 0; i < 600; i++) {
      try (var _ = TierClient.connected(temp.resolve("sock"))) {
        return process;
      } catch (IOException e) {
        if (!process.isAlive()) throw new IOException("the daemon ended, see its log", e);
      }
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    process.destroyForcibly();
    throw new IOException("the daemon does not listen after 30 s");
  }

  /** Returns the command that starts it; folder, host and disk bytes are to be added. */
  static List<String> command() {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
    if (SCALE == 1) command.add("-XX:TieredStopAtLevel=1"); // it lives for a few seconds
    command.addAll(List.of("-cp", classPath(), TierChild.class.getName()));
    return command;
  }

  private static String classPath() {
    var path = new ArrayList<String>();
    for (var part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!part.contains("junit") && !part.isEmpty()) path.add(part);
    }
    return String.join(File.pathSeparator, path);
  }

  static TierSettings settings(Path temp, long hostBytes, long diskBytes) {
    var usual = TierSettings.DEFAULT;
    return new TierSettings(
        temp.resolve("sock"),
        List.of(),
        List.of(temp, Path.of("/dev/shm")),
        0,
        32,
        1,
        hostBytes,
        diskBytes,
        temp.resolve("tier"),
        "lru",
        Duration.ZERO,
        TierSettings.Load.QUICKER,
        0,
        usual.order(),
        usual.disk(),
        null,
        null,
        null,
        null);
  }

  public static void main(String[] arguments) throws Exception {
    var temp = Path.of(arguments[0]);
    long host = Long.parseLong(arguments[1]);
    var daemon = TierDaemon.open(settings(temp, host, Long.parseLong(arguments[2])));
    try (daemon) {
      Thread.currentThread().join();
    }
  }
}
