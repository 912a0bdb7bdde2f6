package dev.kvasir.model;

import dev.kvasir.model.compute.Kernels;
import dev.kvasir.model.compute.Kernels.KvView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Computes the attention of the tokens of a pass.
 *
 * <p>Queries with the same keys, of the heads of a group and of consecutive tokens, are computed
 * together, a few at a time.
 */
final class Attention {
  /** Kernels compute scores in pieces of so many. */
  private static final int SCORES_STEP = 64;

  private final ModelShape shape;
  private final Kernels kernels;
  private final Pass.Team team;
  private final float[][] scores;
  private final List<Tile> tiles = new ArrayList<>();

  /** Some queries of one row: its heads of a group token by token, from the first query on. */
  private record Tile(int token, int first, int queries) {}

  Attention(ModelShape shape, Kernels kernels, Pass.Team team, int workers) {
    this.shape = shape;
    this.kernels = kernels;
    this.team = team;
    this.scores = new float[workers][0];
  }

  /** Splits the queries of a pass into tiles, for all of its layers. */
  void begin(PassTokens tokens) {
    tiles.clear();
    for (var run : tokens.runs()) {
      int queries = run.count() * shape.group();
      for (int first = 0; first < queries; first += Kernels.QUERIES_MAX) {
        int count = Math.min(Kernels.QUERIES_MAX, queries - first);
        tiles.add(new Tile(run.first(), first, count));
      }
    }
  }

  /** Writes the attention of all heads of all tokens, times the scale of the next product. */
  void run(int index, Weights.Layer layer, PassTokens tokens, PassBuffers buffers) {
    long multiplications = 2 * tokens.attended() * shape.heads() * shape.headSize();
    team.run(
        tiles.size() * shape.kvHeads(),
        multiplications,
        (unit, worker) -> {
          var tile = tiles.get(unit % tiles.size());
          attend(index, layer, unit / tiles.size(), tile, worker, tokens, buffers);
        });
  }

  private void attend(
      int index,
      Weights.Layer layer,
      int kvHead,
      Tile tile,
      int worker,
      PassTokens tokens,
      PassBuffers buffers) {
    int group = shape.group();
    int last = tile.token + (tile.first + tile.queries - 1) / group;
    int positions = tokens.position(last) + 1;
    int stride = (positions + SCORES_STEP - 1) / SCORES_STEP * SCORES_STEP;
    var mine = scores(worker, tile.queries * stride);
    var queries = new int[tile.queries];
    var to = new int[tile.queries];
    for (int i = 0; i < tile.queries; i++) {
      int token = tile.token + (tile.first + i) / group;
      int head = kvHead * group + (tile.first + i) % group;
      queries[i] = token * layer.attention().outputs() + head * shape.headSize();
      to[i] = token * layer.attentionOutput().depth() + head * shape.headSize();
    }
    var keys = view(tokens, last, shape.keysAt(index, kvHead), positions);
    kernels.scores(keys, buffers.projected(), queries, mine, stride);
    var factors = new float[tile.queries];
    for (int i = 0; i < tile.queries; i++) {
      int token = tile.token + (tile.first + i) / group;
      int seen = tokens.position(token) + 1;
      float sum = kernels.softmax(mine, i * stride, seen);
      Arrays.fill(mine, i * stride + seen, i * stride + positions, 0);
      factors[i] = 1 / sum * layer.attentionOutput().scale();
    }
    var values = view(tokens, last, shape.valuesAt(index, kvHead), positions);
    kernels.values(values, mine, stride, factors, buffers.mixed(), to);
  }

  private KvView view(PassTokens tokens, int token, long offset, int positions) {
    return new KvView(tokens.memory(), tokens.blocks(token), offset, shape.headSize(), positions);
  }

  /** Each worker has scores of its own, as many as it has needed at most. */
  private float[] scores(int worker, int count) {
    if (scores[worker].length < count) scores[worker] = new float[2 * count];
    return scores[worker];
  }
}
