package dev.kvasir.tools.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.errors.OpenAIIoException;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import dev.kvasir.net.TestIdentity;
import dev.kvasir.net.server.HttpSettings.Tls;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that speaks TLS, and a client that trusts its certificate or does not. */
@Timeout(180)
@Tag("all")
class TlsTest {
  @TempDir private Path folder;

  @Test
  void aStreamComesThroughToWhoTrustsTheCertificate() throws Exception {
    var identity = TestIdentity.make(folder);
    var tls = new Tls(identity.certificate().toString(), identity.key().toString());
    try (var scene = new ClientScene(callers -> callers.with(tls))) {
      assertThat(scene.url()).startsWith("https://");
      var trust = identity.trusting();
      var context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {trust}, null);
      var sockets = context.getSocketFactory();
      var trusting = client(scene).sslSocketFactory(sockets).trustManager(trust).build();
      try (var stream = trusting.chat().completions().createStreaming(question())) {
        assertThat(stream.stream()).hasSizeGreaterThan(5);
      }
      var wary = client(scene).build();
      assertThatThrownBy(() -> wary.chat().completions().create(question()))
          .isInstanceOf(OpenAIIoException.class)
          .hasCauseInstanceOf(SSLHandshakeException.class);
    }
  }

  private static OpenAIOkHttpClient.Builder client(ClientScene scene) {
    return OpenAIOkHttpClient.builder().baseUrl(scene.url()).apiKey(ClientScene.KEY).maxRetries(0);
  }

  private static ChatCompletionCreateParams question() {
    return ChatCompletionCreateParams.builder()
        .model(ClientScene.MODEL)
        .addUserMessage("What is the weather like?")
        .maxCompletionTokens(20)
        .putAdditionalBodyProperty("ignore_eos", JsonValue.from(true))
        .build();
  }
}
