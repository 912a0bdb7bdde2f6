package dev.kvasir.gateway.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.worker.Routing.Priorities;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.RawClient;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Paths that a real uvicorn reads as that of a chat, sent through a real Envoy: none may bring the
 * caller's own fields to the worker. Run by scripts/real-envoy.
 */
@EnabledIfEnvironmentVariable(
    named = "KVASIR_UVICORN",
    matches = ".+",
    disabledReason = "needs a real Envoy and uvicorn: run scripts/real-envoy")
@Timeout(180)
class PathVariantsTest {
  private static final Path ROOT = Path.of(System.getProperty("kvasir.root", ".."));
  private static final int STARTS_MAX = 300;

  private static final List<String> PATHS =
      List.of(
          "/v1/chat/completions",
          "/v1/chat/completions?x=1",
          "/v1/%63hat/completions",
          "/v1/%2563hat/completions",
          "/%76%31/chat/completions",
          "//v1/chat/completions",
          "/v1//chat/completions",
          "/./v1/chat/completions",
          "/v1/./chat/completions",
          "/x/../v1/chat/completions",
          "/x/%2e%2e/v1/chat/completions",
          "/v1%2fchat%2fcompletions",
          "/v1/chat%2Fcompletions",
          "/v1\\chat\\completions",
          "/v1/chat%5ccompletions",
          "/v1/chat/completions/",
          "/v1/chat/completions#x",
          "/v1/chat/completions%23x",
          "/v1/chat/completions%3fx",
          "/v1/chat/completions;x=1",
          "/v1/chat;x/completions",
          "/V1/chat/completions",
          "http://worker/v1/chat/completions",
          "http://worker/v1/%63hat/completions",
          "/v1/models");

  private static final String BODY =
      "{\"model\":\"tiny\",\"messages\":[],\"kv_transfer_params\":{\"do_remote_prefill\":true},"
          + "\"cache_salt\":\"of another\",\"priority\":-9}";

  @TempDir private Path folder;

  private static String sent(int port, String path) throws IOException {
    var head = RawClient.post(path, BODY.length(), "connection: close", "authorization: Bearer k");
    try (var raw = RawClient.connect(port)) {
      return raw.write(head).write(BODY).read();
    }
  }

  private static int free() throws IOException {
    try (var socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static Process uvicorn(int port) throws IOException, InterruptedException {
    var script = ROOT.resolve("scripts/real-envoy-worker.py").toString();
    var process =
        new ProcessBuilder(System.getenv("KVASIR_UVICORN"), script, Integer.toString(port))
            .inheritIO()
            .start();
    for (int i = 0; i < STARTS_MAX && process.isAlive(); i++) {
      try (var _ = new Socket("127.0.0.1", port)) {
        return process;
      } catch (IOException e) {
        Thread.sleep(100);
      }
    }
    process.destroy();
    throw new IOException("uvicorn did not start");
  }

  @Test
  void noSpellingBringsTheCallersFieldsToTheWorker() throws Exception {
    int port = free();
    var uvicorn = uvicorn(port);
    try {
      var direct = new TreeMap<String, String>();
      for (var path : PATHS) {
        if (sent(port, path).contains("kv_transfer_params")) direct.put(path, "read as a chat");
      }
      // Without the gateway, a worker does read other spellings.
      assertThat(direct).containsKeys("/v1/%63hat/completions", "/v1/chat/completions#x");
      System.out.println("uvicorn reads as a chat: " + direct.keySet());
      passed(port, UnaryOperator.identity(), "as shipped");
      passed(
          port,
          yaml ->
              yaml.replace("normalize_path: true", "normalize_path: false")
                  .replace("merge_slashes: true", "merge_slashes: false")
                  .replace("REJECT_REQUEST", "KEEP_UNCHANGED"),
          "with paths as they came");
    } finally {
      uvicorn.destroy();
      uvicorn.waitFor();
    }
  }

  private void passed(int worker, UnaryOperator<String> change, String how) throws Exception {
    var workers = List.of(Worker.of("http://127.0.0.1:" + worker).named("uvicorn"));
    UnaryOperator<GatewaySettings> uvicorn =
        settings -> {
          var routing = Records.with(settings.routing(), "priorities", Priorities.BY_CLASS);
          return Records.with(settings, "workers", workers, "routing", routing);
        };
    try (var scene = new PickerScene(uvicorn);
        var envoy =
            EnvoyProcess.start(
                scene,
                folder,
                yaml ->
                    change
                        .apply(yaml)
                        .replace("port_value: " + scene.first.port(), "port_value: " + worker)
                        .replace("port_value: " + scene.second.port(), "port_value: " + worker))) {
      for (var keys : List.of(ApiKeys.NONE, new ApiKeys(List.of(ApiKey.of("ada", "k"))))) {
        scene.gateway.use(keys);
        boolean isOpen = keys.all().isEmpty();
        var statuses = new TreeMap<String, String>();
        for (var path : PATHS) {
          var answer = sent(envoy.uri("/").getPort(), path);
          statuses.put(path, answer.split("\r\n", 2)[0]);
          assertThat(answer).as(path).doesNotContain("kv_transfer_params");
          assertThat(answer).as(path).doesNotContain("-9");
          if (!isOpen) assertThat(answer).as(path).doesNotContain("of another");
        }
        System.out.println(how + (isOpen ? ", without keys: " : ", with keys: ") + statuses);
        assertThat(statuses.get("/v1/chat/completions")).contains("200");
      }
      scene.assertBooksAreEmpty();
    }
  }
}
