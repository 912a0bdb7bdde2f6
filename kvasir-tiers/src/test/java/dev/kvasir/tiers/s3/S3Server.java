package dev.kvasir.tiers.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.net.redis.ServerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A real S3-compatible server, S3Proxy, in a process of its own; a folder keeps its buckets. */
public final class S3Server implements AutoCloseable {
  public static final String BUCKET = "blocks";

  private static final int PATIENCE_SECONDS = 60;

  final int port;
  private final Path folder;
  private final String classPath;
  private final ServerProcess process;
  private int buckets;

  private S3Server(Path folder, String classPath) throws IOException {
    this.folder = folder;
    this.classPath = classPath;
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      this.port = socket.getLocalPort();
    }
    Files.createDirectories(folder.resolve("data").resolve(BUCKET));
    this.process = launch();
  }

  /** Starts one, or skips the test where the build has not fetched it. */
  public static S3Server start(Path folder) throws IOException {
    // Where the SDK looks first; the server takes anybody.
    System.setProperty("aws.accessKeyId", "anybody");
    System.setProperty("aws.secretAccessKey", "anything");
    var file = Path.of(System.getProperty("kvasir.root", ".."), "tools/s3proxy/target/classpath");
    assumeTrue(Files.exists(file), file + " is not there: mvn -pl tools/s3proxy verify makes it");
    return new S3Server(folder, Files.readString(file).strip());
  }

  /** A bucket that is new, for a test that shares the server with others. */
  public String freshBucket() throws IOException {
    var name = BUCKET + "-" + ++buckets;
    Files.createDirectory(folder.resolve("data").resolve(name));
    return name;
  }

  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  private ServerProcess launch() throws IOException {
    var properties = folder.resolve("s3proxy.conf");
    Files.writeString(
        properties,
        """
        s3proxy.authorization=none
        s3proxy.endpoint=%s
        jclouds.provider=filesystem-nio2
        jclouds.filesystem.basedir=%s
        """
            .formatted(endpoint(), folder.resolve("data")));
    var log = folder.resolve("logback.xml");
    Files.writeString(log, "<configuration><root level=\"WARN\"/></configuration>");
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var command =
        List.of(
            java,
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dlogback.configurationFile=" + log,
            "-cp",
            classPath,
            "org.gaul.s3proxy.Main",
            "--properties",
            properties.toString());
    return new ServerProcess(
        command, folder.resolve("log"), Duration.ofSeconds(PATIENCE_SECONDS), this::answers);
  }

  private boolean answers() {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(UTF_8));
      return socket.getInputStream().read() >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  void kill() {
    process.kill();
  }

  void restart() throws IOException {
    process.restart();
  }

  @Override
  public void close() {
    process.close();
  }
}
