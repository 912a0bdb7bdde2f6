package dev.kvasir.embedded;

import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.model.ModelShape;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;

/**
 * The last block of each named conversation, to mark it when the conversation ends.
 *
 * <p>Those used least lately are forgotten first. Belongs to the engine's loop.
 */
final class SessionEnds {
  static final int SESSIONS_MAX = 16_384;

  private static final int HEX_DIGITS = 16;

  private record Last(BlockHash block, long tenant) {}

  private final LinkedHashMap<String, Last> lasts = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Returns the hint to give when the request ends; tenants are told apart by the salt of their
   * blocks.
   */
  ReturnHint hint(GenerationRequest request) {
    var hint = request.hint();
    return new ReturnHint(tenant(request.salt()), hint.returnHint(), hint.pinSeconds());
  }

  private static long tenant(String salt) {
    if (salt.isEmpty()) return 0;
    var hash = Sha256.hex(salt.getBytes(StandardCharsets.UTF_8));
    return Long.parseUnsignedLong(hash.substring(0, HEX_DIGITS), HEX_DIGITS);
  }

  /** An answer is over: its last full block is the conversation's. */
  void ended(Generation generation) {
    var request = generation.request();
    var session = request.hint().session();
    // The last token is known but not computed.
    int computed = request.prompt().length + generation.usage().answerTokens() - 1;
    int blocks = computed / ModelShape.BLOCK_TOKENS;
    if (session.isEmpty() || blocks == 0) return;
    lasts.put(session, new Last(generation.name(blocks - 1), tenant(request.salt())));
    if (lasts.size() > SESSIONS_MAX) lasts.pollFirstEntry();
  }

  /** The conversation is over. */
  void end(String session, KvStore kv) {
    var last = lasts.remove(session);
    if (last != null) kv.updateHint(last.block(), new ReturnHint(last.tenant(), Expectation.LAST));
  }
}
