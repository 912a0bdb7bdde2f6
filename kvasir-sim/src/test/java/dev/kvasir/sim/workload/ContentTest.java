package dev.kvasir.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.sim.workload.Content.Segment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class ContentTest {
  private record Token(long stream, int offset) {}

  /** A content, and the tokens it stands for one by one. */
  private record Spelled(Content content, List<Token> tokens) {}

  @Test
  void blocksAreNamedAlikeIfAndOnlyIfAllTokensUpToTheirEndAreAlike() {
    Seeds.each(
        200 * Seeds.scale(),
        random -> {
          int blockTokens = random.nextInt(1, 9);
          var prefixes = new HashMap<List<Token>, BlockHash>();
          var names = new HashSet<BlockHash>();
          for (int count = 0; count < 40; count++) {
            var spelled = spell(random, 64);
            var cursor = spelled.content().names(blockTokens, 7);
            for (int end = blockTokens; end <= 64; end += blockTokens) {
              var name = cursor.next();
              var before = prefixes.putIfAbsent(spelled.tokens().subList(0, end), name);
              if (before == null) {
                assertThat(names.add(name)).as("a name of its own at %s", end).isTrue();
              } else {
                assertThat(name).isEqualTo(before);
              }
            }
          }
        });
  }

  private static Spelled spell(RandomGenerator random, int tokensMin) {
    var segments = new ArrayList<Segment>();
    var tokens = new ArrayList<Token>();
    int count = random.nextInt(4);
    for (int index = 0; index < count; index++) {
      var segment = new Segment(random.nextInt(3), random.nextInt(1, 20));
      segments.add(segment);
      add(tokens, segment.stream(), segment.tokens());
    }
    long endless = random.nextInt(3);
    add(tokens, endless, tokensMin);
    return new Spelled(Content.of(segments, endless), tokens);
  }

  private static void add(List<Token> tokens, long stream, int count) {
    for (int offset = 0; offset < count; offset++) tokens.add(new Token(stream, offset));
  }

  @Test
  void tenantsAndBlockSizesShareNoName() {
    var content = Content.shared(1, 1000, 2);
    var names = new HashSet<BlockHash>();
    for (long salt : new long[] {0, 1, -1, new TraceCaller("a", "").salt()}) {
      for (int blockTokens : new int[] {1, 16, 512}) {
        var cursor = content.names(blockTokens, salt);
        for (int block = 0; block < 100; block++) assertThat(names.add(cursor.next())).isTrue();
      }
    }
  }

  @Test
  void groupIsSharedUpToTheBlockInWhichThePrefixEnds() {
    var one = names(Content.shared(5, 100, 1), 10);
    var other = names(Content.shared(5, 100, 2), 10);
    assertThat(one.subList(0, 6)).isEqualTo(other.subList(0, 6));
    assertThat(one.subList(6, 10)).doesNotContainAnyElementsOf(other);
  }

  @Test
  void shorterPrefixOfAGroupBeginsLikeTheLonger() {
    assertThat(names(Content.shared(5, 32, 1), 2)).isEqualTo(names(Content.shared(5, 64, 2), 2));
  }

  @Test
  void kindsOfStreamsWithTheSameNumberAreDifferent() {
    var firsts =
        List.of(
            names(Content.unique(3), 1),
            names(Content.session(0, 0, 3), 1),
            names(Content.shared(3, 64, 9), 1),
            names(Content.ids(new long[] {3}, 512, 512, 9), 1));
    assertThat(firsts).doesNotHaveDuplicates();
  }

  @Test
  void idsAreSharedWhereTheyAreEqualAndOutputsNever() {
    var one = names(Content.ids(new long[] {1, 2, 3}, 32, 96, 1), 10);
    var other = names(Content.ids(new long[] {1, 2, 4}, 32, 96, 2), 10);
    var again = names(Content.ids(new long[] {1, 2, 3}, 32, 96, 3), 10);
    assertThat(one.subList(0, 4)).isEqualTo(other.subList(0, 4));
    assertThat(one.get(4)).isNotEqualTo(other.get(4));
    assertThat(one.subList(0, 6)).isEqualTo(again.subList(0, 6));
    assertThat(one.get(6)).isNotEqualTo(again.get(6));
  }

  @Test
  void lastIdMayStandForFewerTokens() {
    var content = Content.ids(new long[] {1, 2}, 512, 600, 1);
    var longer = Content.ids(new long[] {1, 2}, 512, 1024, 1);
    assertThat(content.names(100, 0).next()).isEqualTo(longer.names(100, 0).next());
    assertThat(names(content, 40).subList(0, 37)).isEqualTo(names(longer, 40).subList(0, 37));
    assertThat(names(content, 40).get(37)).isNotEqualTo(names(longer, 40).get(37));
  }

  @Test
  void idsThatDoNotFitThePromptAreRefused() {
    assertThatThrownBy(() -> Content.ids(new long[] {1, 2}, 512, 512, 1))
        .hasMessage("2 ids of 512 tokens for 512 tokens");
    assertThatThrownBy(() -> Content.unique(1).names(0, 0)).hasMessage("0 tokens in a block");
    assertThatThrownBy(() -> new Segment(4, 0)).hasMessage("0 tokens of stream 4");
  }

  private static List<BlockHash> names(Content content, int count) {
    var cursor = content.names(16, 0);
    var names = new ArrayList<BlockHash>();
    for (int block = 0; block < count; block++) names.add(cursor.next());
    return names;
  }
}
