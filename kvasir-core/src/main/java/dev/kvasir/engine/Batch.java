package dev.kvasir.engine;

import java.util.List;

/**
 * The work of one forward pass: parts of prompts, and one token for each decoding sequence.
 *
 * @param parts what is computed of prompts, in the order of admission
 * @param joined how many of the parts, the last ones, are of sequences admitted in this step
 * @param preempted sequences that made room for it
 * @param idle decoding sequences that are left out
 * @param decodes how many sequences get one token
 * @param decodeContextTokens tokens that these have computed so far, all together
 * @param rows these sequences
 */
public record Batch(
    List<Part> parts,
    int joined,
    List<Sequence> preempted,
    List<Sequence> idle,
    int decodes,
    long decodeContextTokens,
    DecodeRows rows) {

  /** Some tokens of a sequence, from {@code start} on. */
  public record Part(Sequence sequence, int start, int tokens) {}

  /** The parts of sequences that were admitted in this step. */
  public List<Part> admissions() {
    return parts.subList(parts.size() - joined, parts.size());
  }

  /** How many sequences it singles out; all others just get their next token. */
  public int changes() {
    return parts.size() + preempted.size() + idle.size();
  }

  public boolean isEmpty() {
    return parts.isEmpty() && decodes == 0;
  }
}
