package dev.kvasir.sim.trace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import java.io.ByteArrayInputStream;
import org.junit.jupiter.api.Test;

class SplitwiseReaderTest {
  private static final String HEAD =
      "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n";

  @Test
  void splitwiseTracesAreKnownByTheirColumns() {
    var trace = trace("0,2,0,0.5,1,4808,10\n1,2,0,1.25,1,3180,8\n");
    assertThat(trace.format()).isEqualTo(TraceFormat.SPLITWISE);
    assertThat(trace.next())
        .isEqualTo(Request.of("request_0", 500_000_000, 4808, 10, Content.unique(0)));
    assertThat(trace.next())
        .isEqualTo(Request.of("request_1", 1_250_000_000, 3180, 8, Content.unique(1)));
    assertThat(trace.hasNext()).isFalse();
  }

  @Test
  void anEmptyPromptIsNamedWithItsLine() {
    var trace = trace("0,2,0,0.5,1,0,10\n");
    assertThatThrownBy(trace::next)
        .isInstanceOf(TraceError.class)
        .hasMessageContaining("t:2")
        .hasMessageContaining("prompt_size");
  }

  private static Trace trace(String rows) {
    var text = new ByteArrayInputStream((HEAD + rows).getBytes(UTF_8));
    return Trace.read(new TraceInput("t", text), TraceOptions.USUAL);
  }
}
