package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.engine.Batch.Part;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulerTest {
  @Test
  void computeChangesNothing() {
    var memory = TestMemory.of(20);
    var scheduler = scheduler(memory);
    for (int i = 0; i < 8; i++) scheduler.add(request(i, 10, 20));
    for (int step = 0; step < 60; step++) {
      var stats = memory.pool().stats();
      int free = memory.pool().free();
      var first = scheduler.compute();
      assertThat(scheduler.compute()).isEqualTo(first);
      assertThat(memory.pool().stats()).isEqualTo(stats);
      assertThat(memory.pool().free()).isEqualTo(free);
      var batch = scheduler.apply(first);
      for (var sequence : scheduler.complete(batch).ended()) scheduler.remove(sequence);
    }
    assertThat(scheduler.preemptions()).isPositive();
    assertThat(scheduler.running() + scheduler.waiting()).isZero();
    assertThat(memory.pool().held()).isZero();
  }

  @Test
  void computeAndApplyAreScheduleInTwo() {
    Seeds.each(
        50,
        random -> {
          var whole = scheduler(TestMemory.of(24));
          var halves = scheduler(TestMemory.of(24));
          for (int step = 0; step < 200; step++) {
            if (random.nextInt(4) == 0) {
              var request = request(step, 1 + random.nextInt(30), 1 + random.nextInt(40));
              whole.add(request);
              halves.add(request);
            }
            var batch = whole.schedule();
            var same = halves.apply(halves.compute());
            assertThat(shape(same)).isEqualTo(shape(batch));
            for (var sequence : whole.complete(batch).ended()) whole.remove(sequence);
            for (var sequence : halves.complete(same).ended()) halves.remove(sequence);
          }
        });
  }

  @Test
  void decodingRowsAreWalkedInTheOrderOfAdmissionAndWithoutTheIdle() {
    var memory = TestMemory.of(64);
    var settings = EngineSettings.DEFAULT;
    var scheduler = new Scheduler(memory.kv(), settings, () -> {});
    for (int i = 0; i < 3; i++) scheduler.add(request(i, 5, 9));
    scheduler.complete(scheduler.schedule());
    scheduler.add(request(3, 7, 9));
    var batch = scheduler.schedule();
    assertThat(batch.rows())
        .extracting(row -> row.sequence().request().id() + " " + row.position())
        .containsExactly("s0 5", "s1 5", "s2 5");
    assertThat(batch.parts()).hasSize(1);
  }

  @Test
  void aPromptThatDoesNotFitAsAWholeWaitsIfTheWholeMustFit() {
    // Of ten blocks one is taken: a first chunk of eight tokens has room, the whole prompt not.
    for (var room : EngineSettings.Room.values()) {
      var usual = EngineSettings.DEFAULT;
      var settings = EngineSettings.of(4, 64, 8, 0, usual.order(), usual.victim()).with(room);
      var scheduler = new Scheduler(TestMemory.of(10).kv(), settings, () -> {});
      scheduler.add(request(0, 3, 9));
      scheduler.complete(scheduler.schedule());
      scheduler.add(request(1, 10 * TestMemory.BLOCK_TOKENS - 1, 1));
      int joined = scheduler.schedule().joined();
      assertThat(joined).isEqualTo(room == EngineSettings.Room.FIRST_CHUNK ? 1 : 0);
    }
  }

  private static Scheduler scheduler(TestMemory memory) {
    return new Scheduler(memory.kv(), EngineSettings.DEFAULT, () -> {});
  }

  private static SequenceRequest request(int id, int prompt, int output) {
    return new SequenceRequest("s" + id, new TestNames(0, 1, id), prompt, output, 0, id);
  }

  private static List<Object> shape(Batch batch) {
    var shape = new ArrayList<Object>();
    for (Part part : batch.parts()) {
      shape.add(List.of(part.sequence().request().id(), part.start(), part.tokens()));
    }
    for (var row : batch.rows()) shape.add(row.sequence().request().id() + row.position());
    for (var sequence : batch.preempted()) shape.add("preempted " + sequence.request().id());
    shape.add(List.of(batch.joined(), batch.decodes(), batch.decodeContextTokens()));
    return shape;
  }
}
