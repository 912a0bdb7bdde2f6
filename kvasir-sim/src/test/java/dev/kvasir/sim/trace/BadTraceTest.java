package dev.kvasir.sim.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvasir.Seeds;
import dev.kvasir.sim.workload.Request;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BadTraceTest {
  private static final String MOONCAKE =
      "{\"timestamp\": 5, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [1, 2]}\n";
  private static final String AZURE =
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n";
  private static final String BLIS =
      "request_id,session_id,input_tokens,output_tokens,arrival_time_us\n0,,10,10,5\n";

  /** Each is what is wrong, and where, when the text stands behind a good beginning. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          {"timestamp": 5, "input_length": 600, "outp | not one whole JSON object
          {"timestamp": 5, "input_length": 600}       | there is no output_length
          {"timestamp": 5, "output_length": 600}      | there is no input_length
          {"input_length": 5, "output_length": 600}   | there is no timestamp
          {"timestamp": 5, "input_length": -1, "output_length": 1}  | input_length is -1
          {"timestamp": 5, "input_length": 0, "output_length": 1}   | input_length is 0
          {"timestamp": 5, "input_length": 1, "output_length": -7}  | output_length is -7
          {"timestamp": 5, "input_length": 1e3, "output_length": 1} | input_length is '1e3'
          {"timestamp": 5, "input_length": "x", "output_length": 1} | input_length is 'x'
          {"timestamp": 5, "input_length": 99999999999, "output_length": 1} | is 99999999999
          {"timestamp": 5, "input_length": 99999999999999999999, "output_length": 1} | whole JSON
          {"timestamp": -5, "input_length": 1, "output_length": 1}  | timestamp is -5
          {"timestamp": 1e300, "input_length": 1, "output_length": 1} | timestamp is '1e300'
          {"timestamp": null, "input_length": 1, "output_length": 1}  | timestamp is 'null'
          {"timestamp": 4, "input_length": 1, "output_length": 1}   | 1000000 ns before the one
          {"timestamp": 5, "input_length": 600, "output_length": 1, "hash_ids": [1]} | ok
          {"timestamp": 5, "input_length": 600, "output_length": 1, "hash_ids": [1, 2, 3]} | 3 blocks
          {"timestamp": 5, "input_length": 1600, "output_length": 1, "hash_ids": [1]} | 1 blocks
          {"timestamp": 5, "input_length": 600, "output_length": 1, "hash_ids": ["a"]} | 'a'
          {"timestamp": 5, "input_length": 600, "output_length": 1, "hash_ids": 3} | is not a list
          {"timestamp": 5, "input_length": 600, "output_length": 1} {} | not one whole JSON object
          [1, 2]                                      | not one whole JSON object
          hello                                       | not one whole JSON object
          """)
  void badLineOfMooncakeIsNamed(String line, String problem) {
    if (problem.equals("ok")) {
      assertThat(read(MOONCAKE + "\n" + line)).hasSize(2);
    } else {
      expect(MOONCAKE + "\n" + line, 3, problem);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2023-11-16 18:17:04.0319600,3180        | the line has 2 columns, and the header 3
          2023-11-16 18:17:04.0319600,3180,8,9    | the line has 4 columns, and the header 3
          2023-11-16 18:17:04.0319600,-3180,8     | ContextTokens is -3180
          2023-11-16 18:17:04.0319600,3180,eight  | GeneratedTokens is 'eight'
          2023-11-16 18:17:04.0319600,3180,       | GeneratedTokens is ''
          2023-11-16 18:17:02.0319600,3180,8      | before the one above it
          2023-11-16,3180,8                       | TIMESTAMP is '2023-11-16'
          0001-11-16 18:17:02,3180,8              | TIMESTAMP is '0001-11-16 18:17:02'
          """)
  void badRowOfAzureIsNamed(String line, String problem) {
    expect(AZURE + line, 3, problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1,,10,10,4     | before the one above it
          1,,0,10,5      | the prompt has 0 tokens
          1,,10,10,      | arrival_time_us is ''
          1,,10,10,NaN   | arrival_time_us is 'NaN'
          1,"s,10,10,5   | a quote is opened and not closed
          x,,10,10,5     | request_id is 'x'
          """)
  void badRowOfBlisIsNamed(String line, String problem) {
    expect(BLIS + line, 3, problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          TIMESTAMP,ContextTokens                       | there is no column 'GeneratedTokens'
          TIMESTAMP,ContextToken,GeneratedTokens        | is 'ContextToken' meant?
          arrived_at,num_prefill_tokens                 | there is no column 'num_decode_tokens'
          Timestamp,Model,Request tokens                | there is no column 'Response tokens'
          request_id,input_tokens,arrival_time_us       | there is no column 'output_tokens'
          a,b,c                                         | no known trace begins with: a,b,c
          """)
  void badHeaderIsNamed(String header, String problem) {
    expect(header + "\n1,2,3\n", 1, problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          "arrival_us":1,"prompt_tokens":1}                            | 'output_tokens' is not
          "arrival_us":"x","prompt_tokens":1,"output_tokens":1}        | 'arrival_us' is not there
          "prompt_tokens":1,"output_tokens":1}                         | 'arrival_us' is not there
          "arrival_us":1,"prompt_tokens":1.5,"output_tokens":1}        | not a whole number
          "arrival_us":1,"prompt_tokens":-1,"output_tokens":1}         | prompt_tokens is -1
          "arrival_us":1,"prompt_tokens":9,"output_tokens":1,"blocks":["x"]} | is named 'x'
          "arrival_us":1,"prompt_tokens":9,"output_tokens":1,"blocks":["00000000000000aa"]} | 'block_tokens'
          "arrival_us":1,"prompt_tokens":9                             | not one whole JSON object
          """)
  void badLineOfACaptureIsNamed(String rest, String problem) {
    var good = "{\"schema\":\"kvasir.capture.v1\",";
    expect(
        good + "\"arrival_us\":1,\"prompt_tokens\":1,\"output_tokens\":1}\n" + good + rest,
        2,
        problem);
  }

  @Test
  void otherSchemaInTheMiddleIsNamed() {
    var good =
        """
        {"schema":"kvasir.capture.v1","arrival_us":1,"prompt_tokens":1,"output_tokens":1}
        """;
    expect(good + "{\"schema\":\"kvasir.capture.v2\"}", 2, "schema is 'kvasir.capture.v2'");
    expect("{\"schema\":\"kvasir.capture.v2\"}", 1, "no known trace begins with");
    expect("{\"schema\":\"kvasir.cap", 1, "not one whole JSON object");
  }

  @Test
  void emptyFileIsNamed() {
    expect("", 0, "the file is empty");
    expect("\n \n\r\n", 3, "the file is empty");
    expect("TIMESTAMP,ContextTokens,GeneratedTokens\n", 1, "the trace holds no requests");
  }

  @Test
  void lineOfTenMegabytesIsRefused() {
    expect(MOONCAKE + "x".repeat(10 << 20), 2, "the line is longer than 8 MiB");
    expect("x".repeat(10 << 20), 1, "the line is longer than 8 MiB");
    expect(MOONCAKE + "x".repeat(10 << 20) + "\n" + MOONCAKE, 2, "longer than 8 MiB");
  }

  @Test
  void lineOfSevenMegabytesIsRead() {
    var padded = MOONCAKE.replace("{", "{\"pad\": \"" + "x".repeat(7 << 20) + "\", ");
    assertThat(read(MOONCAKE + padded + MOONCAKE)).hasSize(3);
  }

  @Test
  void byteOrderMarkIsNoPartOfTheTrace() {
    assertThat(read("\uFEFF" + AZURE)).hasSize(1);
  }

  @Test
  void compressedFileThatIsCutOffIsNamed() throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(bytes)) {
      for (int line = 0; line < 10_000; line++) {
        gzip.write(MOONCAKE.replace("5", "" + line).getBytes(StandardCharsets.UTF_8));
      }
    }
    var cut = Arrays.copyOf(bytes.toByteArray(), bytes.size() / 2);
    var error = error(new ByteArrayInputStream(cut));
    assertThat(error.problem()).startsWith("cannot be read on");
    assertThat(error.line()).isPositive();
  }

  @Test
  void streamThatFailsIsNamed() {
    var failing =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("the disk is gone");
          }

          @Override
          public int read(byte[] bytes, int from, int length) throws IOException {
            return read();
          }
        };
    var good = new ByteArrayInputStream(MOONCAKE.getBytes(StandardCharsets.UTF_8));
    assertThat(error(new SequenceInputStream(good, failing)))
        .hasMessage(
            "bad.trace:1: cannot be read on: the disk is gone; the file may be cut off or damaged:"
                + " fetch it again");
  }

  @Test
  void badHeaderOfBlisIsNamed() {
    for (var header :
        List.of("", "- a\n", "a: [", "trace_version: 1\n", "trace_version: 3\ntime_unit: d\n")) {
      var error =
          catchThrowableOfType(
              TraceError.class,
              () -> Trace.read(input(stream(BLIS)), input(stream(header)), TraceOptions.USUAL));
      assertThat(error).as(header).isNotNull();
      assertThat(error.remedy()).contains("trace_version");
    }
  }

  @Test
  void anyDamageEndsInRequestsOrInATraceError() {
    var traces = List.of(MOONCAKE.repeat(3), AZURE, BLIS);
    Seeds.each(
        300 * Seeds.scale(),
        random -> {
          var text = traces.get(random.nextInt(traces.size()));
          var bytes = text.getBytes(StandardCharsets.UTF_8);
          for (int damage = 0; damage < 3; damage++) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
          }
          int length = random.nextInt(bytes.length + 1);
          try {
            read(new ByteArrayInputStream(bytes, 0, length));
          } catch (TraceError error) {
            assertThat(error.getMessage()).startsWith("bad.trace").doesNotContain("Exception");
          }
        });
  }

  private static void expect(String text, long line, String problem) {
    var error = error(stream(text));
    assertThat(error.problem()).contains(problem);
    assertThat(error.line()).isEqualTo(line);
    assertThat(error.remedy()).isNotBlank();
    assertThat(error.getMessage()).startsWith("bad.trace").hasSizeLessThan(400);
  }

  private static TraceError error(InputStream bytes) {
    var error = catchThrowableOfType(TraceError.class, () -> read(bytes));
    assertThat(error).isNotNull();
    return error;
  }

  private static List<Request> read(String text) {
    return read(stream(text));
  }

  private static List<Request> read(InputStream bytes) {
    var requests = new ArrayList<Request>();
    Trace.read(input(bytes), TraceOptions.USUAL).forEachRemaining(requests::add);
    return requests;
  }

  private static TraceInput input(InputStream bytes) {
    return new TraceInput("bad.trace", bytes);
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }
}
