package dev.kvasir.sim.workload;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Requests in the order in which they came, each made on demand.
 *
 * <p>A run has millions of them. What is known of them is kept in arrays of numbers, which cost the
 * garbage collector little.
 */
public final class RequestRows {
  private static final int PART_SHIFT = 10;
  private static final int PART_SIZE = 1 << PART_SHIFT;
  private static final int LETTERS_OF_AN_ID = 12;
  private static final int LETTER_MAX = 0xff;

  /** Some requests that came one after the other: with more of them nothing has to be moved. */
  private static final class Part {
    private final long[] arrivals = new long[PART_SIZE];
    private final int[] promptTokens = new int[PART_SIZE];
    private final int[] outputTokens = new int[PART_SIZE];
    private final TraceCaller[] callers = new TraceCaller[PART_SIZE];

    /** The letters of all ids, and where each id ends. */
    private byte[] letters = new byte[PART_SIZE * LETTERS_OF_AN_ID];

    private final int[] ends = new int[PART_SIZE];

    /** The streams of contents that have but one, of their own. */
    private final long[] streams = new long[PART_SIZE];

    /**
     * Values that do not fit above; each array is empty as long as none of the requests has any.
     */
    private String[] otherIds = {};

    private Content[] contents = {};
    private Turn[] turns = {};
    private long[] deadlines = {};

    void put(int place, Request request) {
      arrivals[place] = request.arrivalNanos();
      promptTokens[place] = request.promptTokens();
      outputTokens[place] = request.outputTokens();
      callers[place] = request.caller();
      putId(place, request.id());
      putContent(place, request.content());
      if (!request.turn().equals(Turn.ALONE)) {
        if (turns.length == 0) turns = new Turn[PART_SIZE];
        turns[place] = request.turn();
      }
      if (request.deadlineNanos() != 0) {
        if (deadlines.length == 0) deadlines = new long[PART_SIZE];
        deadlines[place] = request.deadlineNanos();
      }
    }

    private void putId(int place, String id) {
      int begin = begin(place);
      int length = id.length();
      ends[place] = begin;
      if (begin + length > letters.length) {
        letters = Arrays.copyOf(letters, Math.max(begin + length, 2 * letters.length));
      }
      for (int i = 0; i < length; i++) {
        char letter = id.charAt(i);
        if (letter > LETTER_MAX) {
          if (otherIds.length == 0) otherIds = new String[PART_SIZE];
          otherIds[place] = id;
          return;
        }
        letters[begin + i] = (byte) letter;
      }
      ends[place] = begin + length;
    }

    private int begin(int place) {
      return place == 0 ? 0 : ends[place - 1];
    }

    private void putContent(int place, Content content) {
      if (content.isOneStream()) {
        streams[place] = content.stream(0);
        return;
      }
      if (contents.length == 0) contents = new Content[PART_SIZE];
      contents[place] = content;
    }

    Request get(int place) {
      return new Request(
          id(place),
          arrivals[place],
          promptTokens[place],
          outputTokens[place],
          content(place),
          callers[place],
          turns.length == 0 || turns[place] == null ? Turn.ALONE : turns[place],
          deadlines.length == 0 ? 0 : deadlines[place]);
    }

    private String id(int place) {
      int begin = begin(place);
      int end = ends[place];
      return end == begin
          ? otherIds[place]
          : new String(letters, begin, end - begin, StandardCharsets.ISO_8859_1);
    }

    private Content content(int place) {
      boolean isOneStream = contents.length == 0 || contents[place] == null;
      return isOneStream ? Content.oneStream(streams[place]) : contents[place];
    }
  }

  private final List<Part> parts = new ArrayList<>();
  private int size;

  public int size() {
    return size;
  }

  /** Keeps a request, and answers its number. */
  public int add(Request request) {
    int place = place(size);
    if (place == 0) parts.add(new Part());
    parts.getLast().put(place, request);
    return size++;
  }

  private static int place(int number) {
    return number & (PART_SIZE - 1);
  }

  private Part part(int number) {
    return parts.get(number >>> PART_SHIFT);
  }

  /** The request of that number; equal to the one that came, and not the same object. */
  public Request get(int number) {
    return part(number).get(place(number));
  }

  public int promptTokens(int number) {
    return part(number).promptTokens[place(number)];
  }

  public int outputTokens(int number) {
    return part(number).outputTokens[place(number)];
  }

  public TraceCaller caller(int number) {
    return part(number).callers[place(number)];
  }
}
