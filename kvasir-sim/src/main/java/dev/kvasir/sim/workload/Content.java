package dev.kvasir.sim.workload;

import java.util.Arrays;
import java.util.List;

/**
 * The content of a request, prompt and output, without its tokens.
 *
 * <p>A content is a row of segments, each the beginning of a stream; the last one never ends. A
 * token is known by its stream and its place in it, so that two contents agree on a token if and
 * only if they run through the same streams up to it. A prompt is the beginning of a content, and
 * its output goes on where the prompt ends.
 */
public final class Content {
  private static final int[] NO_ENDS = {};
  private static final long[] NO_STREAMS = {};

  /** Owner of the tokens that follow the segments. */
  private enum Rest {
    /** Of this content alone. */
    OWN,
    /** Perhaps of others too. */
    SHARED
  }

  /** Of the segments that end, and where they do. */
  private final long[] streams;

  private final int[] ends;

  /** The stream of the last segment; by itself, for most contents of chance have no other. */
  private final long last;

  /** Owner of the last stream. */
  private final Rest rest;

  private Content(long[] streams, int[] ends, long last, Rest rest) {
    this.streams = streams;
    this.ends = ends;
    this.last = last;
    this.rest = rest;
  }

  /**
   * The first tokens of a stream.
   *
   * @param stream two segments of one stream begin alike
   */
  public record Segment(long stream, int tokens) {
    public Segment {
      if (tokens <= 0) throw new IllegalArgumentException(tokens + " tokens of stream " + stream);
    }
  }

  /** The segments in their order, and then a stream that never ends. */
  public static Content of(List<Segment> segments, long endless) {
    var streams = new long[segments.size()];
    var ends = new int[segments.size()];
    int end = 0;
    for (int index = 0; index < ends.length; index++) {
      var segment = segments.get(index);
      end = Math.addExact(end, segment.tokens());
      streams[index] = segment.stream();
      ends[index] = end;
    }
    return new Content(streams, ends, endless, Rest.SHARED);
  }

  /** A content that only requests with the same id share. */
  public static Content unique(long id) {
    return alone(StreamKind.OWN.stream(id), Rest.OWN);
  }

  /** A content whose first tokens are those of its group, and the rest its own. */
  public static Content shared(long group, int prefixTokens, long own) {
    return behind(group, prefixTokens, StreamKind.OWN.stream(own), Rest.OWN);
  }

  /**
   * A conversation behind the first tokens of its group: each prompt begins with the prompt before
   * it and its answer.
   *
   * <p>All rounds have this same content, and only the lengths of their prompts differ.
   */
  public static Content session(long group, int prefixTokens, long session) {
    return behind(group, prefixTokens, StreamKind.SESSION.stream(session), Rest.SHARED);
  }

  /**
   * A prompt whose pieces are named by ids, as recorded traces have them, and an output of its own.
   *
   * @param tokensPerId what an id stands for; the last one may stand for fewer
   * @param promptTokens what all ids together stand for
   * @param own names what comes after the prompt
   */
  public static Content ids(long[] ids, int tokensPerId, int promptTokens, long own) {
    if (tokensPerId <= 0 || promptTokens <= 0 || idsFor(promptTokens, tokensPerId) != ids.length) {
      throw new IllegalArgumentException(
          ids.length + " ids of " + tokensPerId + " tokens for " + promptTokens + " tokens");
    }
    var streams = new long[ids.length];
    var ends = new int[ids.length];
    for (int index = 0; index < ids.length; index++) {
      streams[index] = StreamKind.ID.stream(ids[index]);
      ends[index] = (int) Math.min((index + 1L) * tokensPerId, promptTokens);
    }
    return new Content(streams, ends, StreamKind.OWN.stream(own), Rest.OWN);
  }

  /** A number for the name of a group or a session. */
  public static long number(String name) {
    return Mix.of(name);
  }

  /** Returns how many ids it takes to name that many tokens. */
  public static int idsFor(int tokens, int tokensPerId) {
    return Math.ceilDiv(tokens, tokensPerId);
  }

  private static Content alone(long stream, Rest rest) {
    return new Content(NO_STREAMS, NO_ENDS, stream, rest);
  }

  /** The content that runs through that one stream, of which nobody else has a token. */
  static Content oneStream(long stream) {
    return alone(stream, Rest.OWN);
  }

  /** Returns whether the content runs through one stream, of which nobody else has a token. */
  boolean isOneStream() {
    return ends.length == 0 && rest == Rest.OWN;
  }

  private static Content behind(long group, int prefixTokens, long own, Rest rest) {
    if (prefixTokens < 0) throw new IllegalArgumentException(prefixTokens + " prefix tokens");
    if (prefixTokens == 0) return alone(own, rest);
    var streams = new long[] {StreamKind.GROUP.stream(group)};
    return new Content(streams, new int[] {prefixTokens}, own, rest);
  }

  /**
   * Names the blocks of this content from the first one on.
   *
   * @param salt keeps tenants apart: with another one, no name is the same
   */
  public Names names(int blockTokens, long salt) {
    return new Names(this, blockTokens, salt);
  }

  /** Returns how many tokens are named before those that are its own. */
  public int namedTokens() {
    return ends.length == 0 ? 0 : ends[ends.length - 1];
  }

  /** Returns whether what follows the named tokens belongs to this content alone. */
  public boolean endsAlone() {
    return rest == Rest.OWN;
  }

  /** Two contents whose first tokens are the same have the same number here. */
  public long head() {
    return stream(0);
  }

  /** Returns how many tokens at the beginning are named alike in both contents. */
  public int commonTokens(Content other) {
    int most = Math.min(ends.length, other.ends.length);
    int same = 0;
    while (same < most && streams[same] == other.streams[same] && ends[same] == other.ends[same]) {
      same++;
    }
    return same == 0 ? 0 : ends[same - 1];
  }

  /** The same segments, each that many times as short: what was named was longer than tokens. */
  public Content shortened(double times) {
    if (!(times >= 0.1 && times <= 10)) throw new IllegalArgumentException("by " + times);
    var shorter = new int[ends.length];
    for (int index = 0; index < ends.length; index++) {
      int before = index == 0 ? 0 : shorter[index - 1];
      shorter[index] = Math.max(before + 1, (int) Math.rint(ends[index] / times));
    }
    return new Content(streams, shorter, last, rest);
  }

  /** Returns how many segments are named before what is its own. */
  public int namedSegments() {
    return ends.length;
  }

  long stream(int segment) {
    return segment < streams.length ? streams[segment] : last;
  }

  /** Returns where the segment ends, in tokens; the last one never does. */
  long end(int segment) {
    return segment < ends.length ? ends[segment] : Long.MAX_VALUE;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Content content
        && Arrays.equals(streams, content.streams)
        && Arrays.equals(ends, content.ends)
        && last == content.last;
  }

  @Override
  public int hashCode() {
    return 31 * (31 * Arrays.hashCode(streams) + Arrays.hashCode(ends)) + Long.hashCode(last);
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    long start = 0;
    for (int index = 0; index < ends.length; index++) {
      text.append(Long.toHexString(streams[index])).append(':').append(ends[index] - start);
      text.append(' ');
      start = ends[index];
    }
    return text.append(Long.toHexString(last)).append(":...").toString();
  }

  /** Keeps apart the streams of different origin that happen to have the same number. */
  private enum StreamKind {
    OWN(1),
    GROUP(2),
    SESSION(3),
    ID(4);

    private final long key;

    StreamKind(long key) {
      this.key = Mix.spread(key);
    }

    /** Different numbers of one kind always give different streams. */
    long stream(long number) {
      return Mix.spread(number + key);
    }
  }
}
