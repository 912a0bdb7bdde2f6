package dev.kvasir.gateway.request;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.fail;

import dev.kvasir.gateway.request.ParserTarget.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Right texts, changed at random, for each parser of what strangers send. The bytes of a failing
 * one are printed.
 */
@Timeout(3_600)
@Tag("all")
class ParserFuzzTest {
  private static final long INPUTS = 60_000L * Integer.getInteger("kvasir.scale", 1);
  private static final long SEED = Long.getLong("kvasir.seed", 20_261_117);
  private static final int CHANGES_MAX = 6;
  private static final int BYTES_MAX = 4_096;

  private static final List<String> TEXTS =
      List.of(
          "{\"model\":\"tiny\",\"stream\":true,\"messages\":[{\"role\":\"user\","
              + "\"content\":\"hi\"}]}",
          "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":"
              + "{\"url\":\"data:image/png;base64,AAAA\"}},{\"type\":\"text\","
              + "\"text\":\"w\\u00e4s\"}]}]}",
          "{\"prompt\":[1,2,3],\"n\":1,\"kv_transfer_params\":{\"remote_port_of_caller\":1},"
              + "\"cache_salt\":\"s\",\"bootstrap_room\":7,\"prompt_cache_key\":\"k\"}",
          "data: {\"n\":1}\n\n: comment\r\n\r\nevent: x\nid: 1\ndata: {}\n\ndata: [DONE]\n\n",
          "data: {\"error\":{\"code\":500,\"type\":\"x\"}}\n\ndata: {\"usage\":"
              + "{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\n",
          "{\"id\":\"x\",\"choices\":[{\"text\":\"\\\"usage\\\":{\"}],\"usage\":"
              + "{\"prompt_tokens\":7,\"completion_tokens\":5,"
              + "\"prompt_tokens_details\":{\"cached_tokens\":3}}}",
          """
          # HELP x
          vllm:num_requests_running{model_name="a"} 3.0
          vllm:kv_cache_usage_perc 0.5
          vllm:cache_config_info{block_size="16",num_gpu_blocks="100"} 1.0
          sglang:cache_hit_rate 0.25
          DCGM_FI_DEV_GPU_UTIL{gpu="0"} 50
          """,
          "{\"tokens\":[1,2,3],\"count\":3}");

  private static final List<String> PIECES =
      List.of(
          "{",
          "}",
          "[",
          "]",
          "\"",
          "\\",
          ":",
          ",",
          "\n\n",
          "\r\n\r\n",
          "data:",
          "[DONE]",
          "\"usage\":{",
          "\"error\":",
          "null",
          "1e999",
          "-1",
          "NaN",
          "\\ud800",
          "\u00e4",
          "\"model\":5",
          "\"stream\":1",
          " ",
          "\t",
          "0",
          "99999999999999999999");

  @Test
  void whateverComesIsReadOrRefusedAndNeverReadTwoWays() {
    var random = new SplittableRandom(SEED);
    var right = new ArrayList<byte[]>();
    for (var text : TEXTS) right.add(text.getBytes(UTF_8));
    right.add(events());
    var kinds = Kind.values();
    for (long i = 0; i < INPUTS; i++) {
      var bytes = changed(right.get(random.nextInt(right.size())), right, random);
      var kind = kinds[random.nextInt(kinds.length)];
      int cut = random.nextInt(bytes.length + 1);
      try {
        ParserTarget.read(kind, bytes, cut);
      } catch (RuntimeException | AssertionError | StackOverflowError e) {
        var hex = HexFormat.of().formatHex(bytes);
        fail(kind + " cut at " + cut + ": " + new String(bytes, UTF_8) + "\n" + hex, e);
      }
    }
    System.out.printf("%,d inputs for the parsers, seed %d%n", INPUTS, SEED);
  }

  /** A batch of one event, as vLLM packs it: BlockStored of two blocks with three tokens. */
  private static byte[] events() {
    var name = HexFormat.of().formatHex("BlockStored".getBytes(UTF_8));
    return HexFormat.of()
        .parseHex(
            "92" + "cb3ff0000000000000" + "91" + "96ab" + name + "920102c0" + "93010203" + "10c0");
  }

  private static byte[] changed(byte[] from, List<byte[]> right, SplittableRandom random) {
    var bytes = from;
    for (int i = random.nextInt(CHANGES_MAX + 1); i > 0; i--) {
      int at = random.nextInt(bytes.length + 1);
      bytes =
          switch (random.nextInt(6)) {
            case 0 -> flipped(bytes, random);
            case 1 -> Arrays.copyOf(bytes, at);
            case 2 ->
                joined(bytes, at, PIECES.get(random.nextInt(PIECES.size())).getBytes(UTF_8), at);
            case 3 -> joined(bytes, at, right.get(random.nextInt(right.size())), at);
            case 4 -> joined(bytes, at, bytes, at);
            default ->
                joined(bytes, at, new byte[0], Math.min(bytes.length, at + random.nextInt(9)));
          };
      if (bytes.length > BYTES_MAX) bytes = Arrays.copyOf(bytes, BYTES_MAX);
    }
    return bytes;
  }

  private static byte[] flipped(byte[] bytes, SplittableRandom random) {
    var copy = bytes.clone();
    if (copy.length > 0) copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(8));
    return copy;
  }

  /** The bytes up to {@code at}, then the others, then those from {@code on} on. */
  private static byte[] joined(byte[] bytes, int at, byte[] others, int on) {
    var all = Arrays.copyOf(bytes, at + others.length + bytes.length - on);
    System.arraycopy(others, 0, all, at, others.length);
    System.arraycopy(bytes, on, all, at + others.length, bytes.length - on);
    return all;
  }
}
