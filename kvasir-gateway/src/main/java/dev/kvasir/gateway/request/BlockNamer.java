package dev.kvasir.gateway.request;

import dev.kvasir.gateway.journal.PromptNames;
import dev.kvasir.gateway.worker.ModelNames;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.Sha256Hasher;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Names the blocks of prompts, by their tokens or by their bytes. */
public final class BlockNamer {
  /** Longer prompts are named up to here. */
  static final int BLOCKS_MAX = 16_384;

  private static final int BYTES_PER_TOKEN = Integer.BYTES;
  private static final String BY_BYTES = "bytes of ";
  private static final String OWN_MODEL = "the worker's model";
  private static final String OTHER_MODEL = "model ";

  private BlockNamer() {}

  /**
   * By the bytes of all that comes into the prompt, in the order it does.
   *
   * @param path where the request was sent: it says which field is the prompt, whatever else there
   *     is
   * @param model as {@link ModelNames} has it
   */
  public static PromptNames ofBytes(
      ApiPath path, RequestFields fields, String model, String salt, int blockTokens) {
    var prompt = prompt(path, fields);
    var tools = fields.raw("tools");
    var bytes = ByteBuffer.allocate(tools.length + prompt.length).put(tools).put(prompt).flip();
    var tokens = new int[bytes.limit() / BYTES_PER_TOKEN];
    bytes.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(tokens);
    return named(tokens, new Sha256Hasher(BY_BYTES + named(model), salt), blockTokens);
  }

  /** By its tokens; the names of what is known are taken from there. */
  static PromptNames ofTokens(int[] tokens, BlockHasher hasher, int blockTokens, KnownNames known) {
    var blocks = known.names(tokens, hasher, blockTokens, BLOCKS_MAX);
    return new PromptNames(Math.max(1, tokens.length), blocks);
  }

  /**
   * Returns whether parts of a prompt are no text, so that equal tokens do not make equal prompts.
   */
  static boolean hasMedia(ApiPath path, RequestFields fields) {
    var tree = fields.tree();
    for (var name : path.promptFields()) {
      if (!fields.has(name)) continue;
      boolean hasMedia =
          tree == null
              ? !MediaParts.in(fields.raw(name)).isEmpty()
              : MediaParts.areIn(tree.path(name));
      if (hasMedia) return true;
    }
    return false;
  }

  /** All that comes into the prompt, where a fixed number of bytes stands for each image. */
  private static byte[] prompt(ApiPath path, RequestFields fields) {
    var prompt = new ByteArrayOutputStream();
    for (var name : path.promptFields()) {
      if (!fields.has(name)) continue;
      prompt.writeBytes(MediaParts.in(fields.raw(name)).replaced(BYTES_PER_TOKEN));
    }
    return prompt.toByteArray();
  }

  /**
   * Names blocks by their tokens.
   *
   * @param model as {@link ModelNames} has it: empty for a worker's own model, else an adapter
   */
  public static BlockHasher hasher(String model, String salt) {
    return new Sha256Hasher(named(model), salt);
  }

  private static String named(String model) {
    return model.isEmpty() ? OWN_MODEL : OTHER_MODEL + model;
  }

  private static PromptNames named(int[] tokens, BlockHasher hasher, int blockTokens) {
    int count = Math.min(BLOCKS_MAX, tokens.length / blockTokens);
    var blocks = new ArrayList<BlockHash>(count);
    BlockHash parent = null;
    for (int block = 0; block < count; block++) {
      int from = block * blockTokens;
      parent = hasher.hash(parent, tokens, from, from + blockTokens, List.of());
      blocks.add(parent);
    }
    return new PromptNames(Math.max(1, tokens.length), blocks);
  }
}
