package dev.kvasir.gpu.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.StubCuda;
import dev.kvasir.gpu.model.GpuModelSettings.Graphs;
import dev.kvasir.gpu.model.GpuRow.Choice;
import dev.kvasir.gpu.model.GpuShape.Extra;
import dev.kvasir.gpu.model.GpuShape.RopePairs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Very many steps on a driver that computes nothing: 10 million of them in the long profile. */
final class GpuStepsTest {
  private static final int SCALE_LONG = 20;
  private static final int SEQUENCES_MAX = 12;
  private static final int BLOCKS = 64;

  @TempDir Path folder;

  @Test
  void stepsLeaveNothingBehind() throws IOException {
    long steps = Integer.getInteger("kvasir.scale", 1) >= SCALE_LONG ? 10_000_000 : 10_000;
    var stub = StubCuda.fresh();
    var libraries = stub.libraries();
    var shape =
        new GpuShape(1, 16, 1, 1, 32, 16, 16, 64, 1e-5f, 1e4f, RopePairs.HALVES, Extra.NONE);
    var settings = new GpuModelSettings(256, 16, Graphs.USED, folder);
    try (var device = stub.device();
        var kv = device.allocate((long) BLOCKS * shape.blockBytes())) {
      stub.computeNothing();
      var place = new GpuModel.Place(device, libraries, new GpuModel.KvPlace(kv.value(), BLOCKS));
      try (var model = GpuModel.random(place, shape, settings, 1)) {
        var random = new Random(4);
        var feed = model.feed();
        walk(model, feed, random, 2_000);
        var held = device.holdings();
        long free = device.freeBytes();
        walk(model, feed, random, steps);
        assertThat(device.holdings()).isEqualTo(held);
        assertThat(device.freeBytes()).isEqualTo(free);
      }
    }
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  /** Steps of all kinds; some are awaited at once, some late, some never. */
  private static void walk(GpuModel model, GpuFeed feed, Random random, long steps)
      throws IOException {
    var unread = new ArrayDeque<GpuStep>();
    for (long i = 0; i < steps; i++) {
      int count = 1 + random.nextInt(SEQUENCES_MAX);
      boolean isPrompt = random.nextInt(50) == 0;
      var rows = new ArrayList<GpuRow>(count);
      for (int s = 0; s < count; s++) {
        var tokens = new int[isPrompt ? 1 + random.nextInt(16) : 1];
        int position = random.nextInt(16);
        var blocks = new int[] {4 * s, 4 * s + 1};
        rows.add(new GpuRow(tokens, position, blocks, new Choice.Likeliest()));
      }
      var step = model.launch(rows, feed);
      unread.add(step);
      if (unread.size() > random.nextInt(4)) {
        var read = unread.removeFirst();
        read.await();
        assertThat(read.token(0)).isNotNegative();
      }
      if (random.nextInt(1_000) == 0) unread.clear();
      if (random.nextInt(1_000) == 0) assertThat(model.logits(0)).hasSize(16);
    }
    for (var step : unread) step.await();
  }
}
