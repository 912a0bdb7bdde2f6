package dev.kvasir.tiers.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.time.Duration;
import java.time.Instant;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A bucket that lists what the test says, also what is not as it should be. */
class SweeperTest {
  private static final String OWN = "x/0123456789abcdef";
  private static final String LEFT = "x/1111111111111111";
  private static final String USED = "x/2222222222222222";
  private static final Pattern KEY = Pattern.compile("<Key>([^<]*)</Key>");

  /** The figures of each object in a list beside its name. */
  private final TreeMap<String, String> objects = new TreeMap<>();

  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    System.setProperty("aws.accessKeyId", "local");
    System.setProperty("aws.secretAccessKey", "local-secret");
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
    server.createContext("/", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private synchronized void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      var body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      switch (exchange.getRequestMethod()) {
        case "DELETE" -> {
          objects.remove(exchange.getRequestURI().getPath().substring("/bucket/".length()));
          exchange.sendResponseHeaders(204, -1);
        }
        case "POST" -> {
          var names = KEY.matcher(body);
          while (names.find()) objects.remove(names.group(1));
          send(exchange, "<DeleteResult></DeleteResult>");
        }
        default -> send(exchange, list(exchange.getRequestURI().getRawQuery()));
      }
    }
  }

  private String list(String query) {
    var prefix = URLDecoder.decode(query.replaceAll(".*prefix=([^&]*).*", "$1"), UTF_8);
    var folders = new TreeSet<String>();
    var list = new StringBuilder("<ListBucketResult><IsTruncated>false</IsTruncated>");
    objects.forEach(
        (name, about) -> {
          if (!name.startsWith(prefix)) return;
          int slash = query.contains("delimiter") ? name.indexOf('/', prefix.length()) : -1;
          if (slash >= 0) folders.add(name.substring(0, slash + 1));
          else list.append("<Contents><Key>" + name + "</Key>" + about + "</Contents>");
        });
    for (var folder : folders) {
      list.append("<CommonPrefixes><Prefix>" + folder + "</Prefix></CommonPrefixes>");
    }
    return list.append("</ListBucketResult>").toString();
  }

  private static void send(HttpExchange exchange, String text) throws IOException {
    byte[] bytes = ("<?xml version=\"1.0\"?>" + text).getBytes(UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private synchronized void put(String name, Duration age) {
    objects.put(name, "<Size>1</Size>" + written(age));
  }

  private static String written(Duration age) {
    return "<LastModified>" + Instant.now().minus(age) + "</LastModified>";
  }

  private Sweeper.Swept sweep() throws IOException {
    var endpoint = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    var settings = ObjectSettings.of(endpoint, "bucket");
    try (var bucket = new Bucket(settings)) {
      return new Sweeper(bucket, "x/", "0123456789abcdef", settings).sweep();
    }
  }

  @Test
  void anObjectWithoutDateOrSizeIsSkippedAndCountedAndTheOthersAreSwept() throws Exception {
    put(OWN + "/p/old", Duration.ofDays(8));
    objects.put(OWN + "/p/undated", "<Size>1</Size>");
    objects.put(OWN + "/p/unsized", written(Duration.ofDays(8)));
    var swept = sweep();
    assertThat(objects).containsOnlyKeys(OWN + "/p/undated", OWN + "/p/unsized");
    assertThat(swept.packsRemoved()).isEqualTo(1);
    assertThat(swept.unreadable()).isEqualTo(2);
  }

  @Test
  void whatAnotherVersionLeftGoesAtTheSameAgeAndWhatIsYoungerStays() throws Exception {
    var old = Duration.ofDays(8);
    var young = Duration.ofDays(6);
    for (var name : new String[] {"/p/a", "/p/b", "/k/a", "/k/b"}) put(LEFT + name, old);
    put(LEFT + "/generation", old);
    put(USED + "/p/old", old);
    put(USED + "/p/young", young);
    put(USED + "/k/old", old);
    put("x/of-others/p/old", old);
    put(OWN + "/p/young", young);
    assertThat(sweep().othersRemoved()).isEqualTo(5);
    assertThat(objects)
        .containsOnlyKeys(
            LEFT + "/generation",
            USED + "/p/young",
            USED + "/k/old",
            "x/of-others/p/old",
            OWN + "/p/young");
  }
}
