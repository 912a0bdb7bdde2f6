package dev.kvasir.tierd;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.tierd.cache.LoadCosts;
import dev.kvasir.tierd.cache.TierFolder;
import dev.kvasir.tierd.settings.TierSettings;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests what engines see of the daemon, over its socket and their buffer. */
@Timeout(180)
class TierDaemonTest {
  private static final int ROWS = 64;
  private static final int STRIDE = 4 * 4_096;
  private static final String SPACE = TierClient.namespace("aa");

  private static final Logger LOG = Logger.getLogger("dev.kvasir.tierd");

  @TempDir Path temp;

  @BeforeAll
  static void quietly() {
    LOG.setLevel(Level.SEVERE);
  }

  private TierSettings settings(int hostChunks, int diskChunks) {
    return settings(hostChunks, diskChunks, "lru", 0);
  }

  private TierSettings settings(int hostChunks, int diskChunks, String eviction, int tenantChunks) {
    return new TierSettings(
        temp.resolve("sock"),
        List.of(),
        List.of(temp),
        0,
        8,
        1,
        (long) hostChunks * STRIDE,
        (long) diskChunks * STRIDE,
        temp.resolve("tier"),
        eviction,
        Duration.ZERO,
        TierSettings.Load.QUICKER,
        (long) tenantChunks * TierClient.ROW_BYTES,
        TierSettings.DEFAULT.order(),
        TierSettings.DEFAULT.disk(),
        null,
        null,
        null,
        null);
  }

  private TierClient connect() throws IOException {
    return connect("rows", SPACE);
  }

  private TierClient connect(String file, String namespace) throws IOException {
    return TierClient.connect(temp.resolve("sock"), temp.resolve(file), ROWS, namespace);
  }

  @Test
  void whatOneEngineStoresAnotherLoads() throws Exception {
    try (var _ = TierDaemon.open(settings(32, 0));
        var first = connect();
        var second = connect("others", SPACE)) {
      assertThat(first.look(1, 2, 3)).containsExactly(0, 0, 0);
      assertThat(first.store(1, 2, 3)).containsExactly(0, 0, 0);
      assertThat(second.look(1, 9, 3)).containsExactly(1, 0, 1);
      assertThat(second.load(3, 1, 2)).containsExactly(0, 0, 0);
      assertThat(second.holds(0, 3)).isTrue();
      assertThat(second.holds(1, 1)).isTrue();
      assertThat(second.holds(2, 2)).isTrue();
    }
  }

  @Test
  void aMissingChunkCostsNoOther() throws Exception {
    try (var _ = TierDaemon.open(settings(32, 0));
        var engine = connect()) {
      engine.store(1, 2, 3);
      engine.wipe(0);
      assertThat(engine.load(1, 77, 2, 3)).containsExactly(0, 1, 0, 0);
      assertThat(engine.holds(0, 1)).isTrue();
      assertThat(engine.holds(3, 3)).isTrue();
    }
  }

  @Test
  void namespacesOfOtherWeightsShareNothing() throws Exception {
    var two = settings(64, 0);
    var settings =
        new TierSettings(
            two.socket(),
            two.users(),
            two.bufferFolders(),
            0,
            8,
            2,
            two.hostBytes(),
            0,
            two.folder(),
            "lru",
            Duration.ZERO,
            TierSettings.Load.QUICKER,
            0,
            two.order(),
            two.disk(),
            null,
            null,
            null,
            null);
    try (var _ = TierDaemon.open(settings);
        var first = connect();
        var second = connect("others", TierClient.namespace("bb"))) {
      first.store(1, 2);
      assertThat(second.look(1, 2)).containsExactly(0, 0);
      assertThatThrownBy(() -> connect("third", TierClient.namespace("cc")))
          .hasMessageContaining("error 5")
          .hasMessageContaining("namespaces-max");
    }
  }

  @Test
  void whatIsOnDiskIsFoundByTheNextDaemonAndNeverMoreThanTheLimit() throws Exception {
    int onDisk = 40;
    var chunks = LongStream.range(0, 60).toArray();
    try (var _ = TierDaemon.open(settings(32, onDisk));
        var engine = connect()) {
      for (int i = 0; i < chunks.length; i += 10) {
        var some = LongStream.range(i, i + 10).toArray();
        assertThat(engine.store(some)).containsOnly(0);
        awaitDisk(engine, i + 10);
      }
      assertThat(engine.stats()).contains("\"disk_chunks\":" + onDisk + ",");
    }
    try (var _ = TierDaemon.open(settings(32, onDisk));
        var engine = connect()) {
      var found = engine.look(chunks);
      assertThat(LongStream.range(0, 60).filter(i -> found[(int) i] == 1).count())
          .isEqualTo(onDisk);
      var kept = LongStream.range(0, 60).filter(i -> found[(int) i] == 1).toArray();
      assertThat(engine.load(kept)).containsOnly(0);
      for (int i = 0; i < kept.length; i++) assertThat(engine.holds(i, kept[i])).isTrue();
      long files = TierFolder.in(temp.resolve("tier")).getFirst().bytes();
      assertThat(files).isLessThan((long) onDisk * STRIDE + (1 << 20));
    }
  }

  private static void awaitDisk(TierClient engine, int chunks) throws Exception {
    for (int i = 0; i < 500; i++) {
      if (engine.stats().contains("\"disk_stored\":" + chunks + ",")) return;
      Thread.sleep(10);
    }
    throw new AssertionError(engine.stats());
  }

  @Test
  void aNamespaceThatNobodyUsesGivesWayWithItsFiles() throws Exception {
    try (var _ = TierDaemon.open(settings(8, 8))) {
      try (var engine = connect()) {
        engine.store(1, 2);
      }
      try (var other = connectLater(TierClient.namespace("bb"))) {
        assertThat(other.store(1)).containsExactly(0);
      }
      try (var folders = Files.list(temp.resolve("tier"))) {
        assertThat(folders).hasSize(1);
      }
    }
  }

  /** The daemon hears of the end of a connection a moment later. */
  private TierClient connectLater(String namespace) throws Exception {
    for (int i = 0; ; i++) {
      try {
        return connect("others", namespace);
      } catch (IOException e) {
        if (i == 500) throw e;
        Thread.sleep(10);
      }
    }
  }

  @Test
  void aBufferThatShrinksCostsItsCopiesAndNothingElse() throws Exception {
    try (var _ = TierDaemon.open(settings(64, 0));
        var engine = connect();
        var other = connect("others", SPACE)) {
      engine.store(1, 2, 3);
      engine.shrink(0);
      assertThat(engine.load(1, 2, 3)).containsOnly(2);
      var again = engine.storing(4, 5);
      engine.shrink(TierClient.ROW_BYTES / 2);
      engine.send(again.flip());
      assertThat(engine.read().position(13)).isEqualTo(ByteBuffer.wrap(new byte[] {2, 2}));
      assertThat(other.look(1, 2, 3, 4, 5)).containsExactly(1, 1, 1, 0, 0);
      assertThat(other.load(3)).containsExactly(0);
      assertThat(other.holds(0, 3)).isTrue();
    }
  }

  @Test
  void badFramesEndTheirConnectionOnly() throws Exception {
    try (var _ = TierDaemon.open(settings(32, 0));
        var good = connect()) {
      good.store(1);
      assertThat(refusal(TierClient.hello(1, 10_000, 1, "", SPACE)))
          .contains("error 2")
          .contains("version 1, this daemon speaks 2");
      assertThat(refusal(TierClient.hello(2, 5, 1, temp.resolve("x").toString(), SPACE)))
          .contains("error 3")
          .contains("rows of 5 bytes");
      assertThat(refusal(TierClient.hello(2, 10_000, 1, "/etc/passwd", SPACE))).contains("error 4");
      assertThat(refusal(TierClient.hello(2, 10_000, 1, "", "model=x"))).contains("error 3");
      assertThat(refusal(ByteBuffer.wrap(new byte[] {2, 0, 0}))).contains("error 1");
      assertThat(refused(ByteBuffer.allocate(4).order(LITTLE_ENDIAN).putInt(1 << 30).flip()))
          .contains("a frame of 1073741824 bytes");
      assertThat(refused(ByteBuffer.allocate(4).order(LITTLE_ENDIAN).putInt(-1).flip()))
          .contains("a frame of 4294967295 bytes");
      assertThat(good.look(1)).containsExactly(1);
    }
  }

  @Test
  void badRequestsAreToldAndEndTheConnection() throws Exception {
    try (var _ = TierDaemon.open(settings(32, 0))) {
      var lookup = ByteBuffer.allocate(13).order(LITTLE_ENDIAN).put((byte) 2).putLong(1);
      assertThat(answerTo(lookup.putInt(1_000_000).flip())).contains("1000000 keys");
      assertThat(answerTo(lookup.clear().position(9).putInt(5).flip())).contains("shorter");
      assertThat(answerTo(ByteBuffer.wrap(new byte[] {99}))).contains("type 99");
      var row = ByteBuffer.allocate(53).order(LITTLE_ENDIAN).put((byte) 4).putLong(1).putInt(1);
      assertThat(answerTo(row.putInt(ROWS).put(TierClient.key(1)).flip())).contains("row 64 of 64");
    }
  }

  private String answerTo(ByteBuffer body) throws IOException {
    try (var client = connect()) {
      client.send(body);
      var answer = client.read();
      assertThat(answer.get()).isEqualTo((byte) 0xff);
      return TierClient.text(answer);
    }
  }

  private String refusal(ByteBuffer body) throws IOException {
    var frame = ByteBuffer.allocate(4 + body.remaining()).order(LITTLE_ENDIAN);
    return refused(frame.putInt(body.remaining()).put(body).flip());
  }

  private String refused(ByteBuffer bytes) throws IOException {
    try (var socket = TierClient.connected(temp.resolve("sock"))) {
      while (bytes.hasRemaining()) socket.write(bytes);
      var answer = TierClient.read(socket);
      assertThat(answer.get()).isEqualTo((byte) 0xff);
      var text = TierClient.text(answer);
      assertThatThrownBy(() -> TierClient.read(socket)).isInstanceOf(EOFException.class);
      return text;
    }
  }

  @Test
  void tenThousandConnectionsAreBoundedAndThoseWithinGoOn() throws Exception {
    try (var daemon = TierDaemon.open(settings(32, 0));
        var engine = connect()) {
      engine.store(1);
      var open = new ArrayList<SocketChannel>();
      for (int i = 0; i < 10_000; i++) {
        var socket = TierClient.connected(temp.resolve("sock"));
        if (i < 100) open.add(socket);
        else socket.close();
      }
      assertThat(engine.look(1)).containsExactly(1);
      assertThat(daemon.metrics()).containsPattern("kvasir_tier_connections [1-8]\n");
      for (var socket : open) socket.close();
    }
  }

  @Test
  void twoDaemonsDoNotShareASocketAndAStaleOneIsReplaced() throws Exception {
    try (var _ = TierDaemon.open(settings(8, 0))) {
      assertThatThrownBy(() -> TierDaemon.open(settings(8, 0)))
          .hasMessageContaining("another daemon listens there");
    }
    Files.createFile(temp.resolve("sock"));
    try (var _ = TierDaemon.open(settings(8, 0));
        var engine = connect()) {
      assertThat(engine.look(1)).containsExactly(0);
      assertThat(Files.getPosixFilePermissions(temp.resolve("sock"))).hasSize(2);
    }
  }

  @Test
  void storesAreDroppedAndCountedWhereHostMemoryIsHeld() throws Exception {
    try (var daemon = TierDaemon.open(settings(4, 0));
        var engine = connect()) {
      var done = engine.store(LongStream.range(0, 6).toArray());
      assertThat(done).containsExactly(0, 0, 0, 0, 3, 3);
      assertThat(daemon.metrics()).contains("outcome=\"dropped\"} 2\n");
      // Nobody holds them any more, so there is room by eviction.
      assertThat(engine.store(10, 11)).containsExactly(0, 0);
      assertThat(engine.look(0, 1, 2, 3, 10, 11)).contains(0, 0).contains(1, 1);
    }
  }

  @Test
  void aTierThatIsSlowerThanComputingIsNotOffered() throws Exception {
    try (var _ = TierDaemon.open(settings(32, 40));
        var engine = connect()) {
      engine.store(LongStream.range(0, 20).toArray());
      awaitDisk(engine, 20);
    }
    try (var daemon = TierDaemon.open(settings(32, 40));
        var engine = connect()) {
      for (int i = 0; i < LoadCosts.MEASURED_MIN; i++) {
        assertThat(engine.load(i)).containsExactly(0);
        engine.measured(1_000, 50_000_000_000L);
      }
      assertThat(engine.look(0, 19)).containsExactly(1, 1);
      for (int i = 0; i < 100; i++) engine.measured(1_000, 1);
      assertThat(engine.look(0, 19)).containsExactly(1, 2);
      assertThat(daemon.metrics()).containsPattern("kvasir_tier_slower_total\\{[^}]*} 1\n");
    }
  }

  @Test
  void aTenantThatHasAsMuchAsItMayGivesUpItsOldest() throws Exception {
    try (var daemon = TierDaemon.open(settings(32, 0, "lru", 4));
        var engine = connect()) {
      assertThat(engine.storeFor(1, 0, 1, 2)).containsOnly(0);
      assertThat(engine.storeFor(2, 10, 11, 12, 13)).containsOnly(0);
      assertThat(engine.storeFor(1, 3, 4)).containsOnly(0);
      assertThat(engine.look(0, 1, 2, 3, 4)).containsExactly(0, 1, 1, 1, 1);
      assertThat(engine.look(10, 11, 12, 13)).containsOnly(1);
      // More at once than it may have: what is being copied cannot make room for itself.
      assertThat(engine.storeFor(3, 20, 21, 22, 23, 24, 25)).containsExactly(0, 0, 0, 0, 3, 3);
      assertThat(engine.store(30, 31, 32, 33, 34, 35)).containsOnly(0);
      assertThat(daemon.metrics())
          .containsPattern("kvasir_tier_stores_total\\{[^}]*over_quota[^}]*} 2\n")
          .containsPattern("kvasir_tier_tenants\\{[^}]*} 3\n");
    }
  }

  @Test
  void whatATenantStoredIsDeletedOnAllTiersAlsoAfterARestart() throws Exception {
    try (var _ = TierDaemon.open(settings(32, 40));
        var engine = connect()) {
      engine.storeFor(1, 0, 1, 2);
      engine.storeFor(2, 3, 4);
      awaitDisk(engine, 5);
    }
    try (var _ = TierDaemon.open(settings(32, 40));
        var engine = connect()) {
      assertThat(engine.load(0)).containsExactly(0);
      assertThat(engine.forget(1)).isEqualTo("{\"chunks\":3}");
      assertThat(engine.look(0, 1, 2, 3, 4)).containsExactly(0, 0, 0, 1, 1);
      assertThat(engine.forget(1)).isEqualTo("{\"chunks\":0}");
    }
    try (var _ = TierDaemon.open(settings(32, 40));
        var engine = connect()) {
      assertThat(engine.look(0, 1, 2, 3, 4)).containsExactly(0, 0, 0, 1, 1);
      assertThat(engine.forget(2)).isEqualTo("{\"chunks\":2}");
    }
  }

  /** Nobody waits for the disk: some chunks are deleted while they are written to it. */
  @Test
  void whatATenantStoredIsDeletedAlsoOnItsWayDown() throws Exception {
    try (var _ = TierDaemon.open(settings(32, 40));
        var engine = connect()) {
      for (int round = 0; round < 20; round++) {
        engine.storeFor(1, 0, 1, 2, 3, 4, 5, 6, 7);
        assertThat(engine.forget(1)).isEqualTo("{\"chunks\":8}");
        assertThat(engine.look(0, 1, 2, 3, 4, 5, 6, 7)).containsOnly(0);
      }
    }
  }

  /**
   * Prompts that come back are kept, those that never did go: only who is told of ends can tell.
   */
  @Test
  void evictionLearnsFromTheRequestsThatEnd() throws Exception {
    try (var daemon = TierDaemon.open(settings(32, 0, "learned", 0));
        var engine = connect()) {
      for (int i = 0; i < 20; i++) {
        long[] prompt = LongStream.range(1_000L + 2L * i, 1_002L + 2L * i).toArray();
        engine.store(prompt);
        engine.ended(prompt);
      }
      engine.stats();
      assertThat(daemon.metrics())
          .containsPattern("kvasir_tier_learned_segments\\{[^}]*host[^}]*} [1-9]\\d\n");
    }
  }

  /** Daemon and engine are killed together: nobody is left to delete the buffer. */
  @Test
  void theNextDaemonDeletesWhatAKilledEngineLeft() throws Exception {
    var orphan = temp.resolve("vllm_offload_orphan.mmap");
    var used = temp.resolve("vllm_offload_used.mmap");
    var other = temp.resolve("vllm_offload_other.mmap");
    for (var file : List.of(orphan, used, other)) Files.write(file, new byte[8_192]);
    Files.writeString(temp.resolve("sock.buffers"), orphan + "\n" + used + "\n/etc/passwd\n");
    try (var arena = Arena.ofShared()) {
      map(used, arena);
      try (var _ = TierDaemon.open(settings(32, 0))) {
        assertThat(orphan).doesNotExist();
        assertThat(used).exists();
        assertThat(other).exists();
        assertThat(temp.resolve("sock.buffers")).hasContent(used + "\n");
      }
    }
  }

  /** A vLLM that is killed leaves its buffer, and so the memory of it. */
  @Test
  void aBufferOfVllmThatNobodyHasMappedIsDeleted() throws Exception {
    var orphan = temp.resolve("vllm_offload_orphan.mmap");
    var used = temp.resolve("vllm_offload_used.mmap");
    var unseen = temp.resolve("vllm_offload_unseen.mmap");
    var other = temp.resolve("other.mmap");
    for (var file : List.of(orphan, used, unseen, other)) {
      Files.write(file, new byte[ROWS * TierClient.ROW_BYTES]);
    }
    try (var _ = TierDaemon.open(settings(32, 0));
        var arena = Arena.ofShared()) {
      map(used, arena);
      greet(used);
      greet(unseen);
      try (var brief = Arena.ofShared()) {
        map(orphan, brief);
        map(other, brief);
        greet(orphan);
        greet(other);
      }
      for (int i = 0; Files.exists(orphan); i++) {
        assertThat(i).isLessThan(200);
        Thread.sleep(100);
      }
      Thread.sleep(1_000);
      for (var file : List.of(used, unseen, other)) assertThat(file).exists();
    }
  }

  private static void map(Path file, Arena arena) throws IOException {
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      assertThat(channel.map(FileChannel.MapMode.READ_ONLY, 0, 4_096, arena).byteSize())
          .isEqualTo(4_096);
    }
  }

  /** Connects with the file as a buffer, and leaves. */
  private void greet(Path file) throws IOException {
    try (var socket = TierClient.connected(temp.resolve("sock"))) {
      var hello = TierClient.hello(2, TierClient.ROW_BYTES, ROWS, file.toString(), SPACE);
      var frame = ByteBuffer.allocate(4 + hello.remaining()).order(LITTLE_ENDIAN);
      frame.putInt(hello.remaining()).put(hello).flip();
      while (frame.hasRemaining()) socket.write(frame);
      assertThat(TierClient.read(socket).get()).isEqualTo((byte) 0x81);
    }
  }
}
