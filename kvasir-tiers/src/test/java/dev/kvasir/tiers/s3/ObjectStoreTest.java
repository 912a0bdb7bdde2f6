package dev.kvasir.tiers.s3;

import static dev.kvasir.tiers.shared.SharedShelf.keys;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Records;
import dev.kvasir.Seeds;
import dev.kvasir.net.Secret;
import dev.kvasir.net.redis.ServerProcess;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import dev.kvasir.tiers.shared.BlockName;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.HttpProxy;
import dev.kvasir.tiers.shared.HttpProxy.Fault;
import dev.kvasir.tiers.shared.Presence;
import dev.kvasir.tiers.shared.RaceChild;
import dev.kvasir.tiers.shared.SealSettings;
import dev.kvasir.tiers.shared.SealSettings.Protection;
import dev.kvasir.tiers.shared.SharedShelf;
import dev.kvasir.tiers.shared.SharedShelf.Tally;
import dev.kvasir.tiers.shared.TcpProxy;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;

@Timeout(180)
@Tag("all")
class ObjectStoreTest {
  static final int BLOCK_BYTES = 16 << 10;
  private static final Secret SECRET = Secret.of("0123456789abcdef0123456789abcdef");
  private static final BlockSeals SEALS = BlockSeals.of(BLOCK_BYTES, 7, SealSettings.CHECKSUM);
  private static final String PREFIX = "kvasir/" + SEALS.namespace();

  @TempDir static Path temp;
  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    Quiet.please();
    server = S3Server.start(temp);
  }

  @AfterAll
  static void stop() {
    if (server != null) server.close();
  }

  @BeforeEach
  void empty() throws IOException {
    try (var bucket = new Bucket(settings())) {
      for (var object : bucket.list("", 100_000)) bucket.remove(object.name());
    }
  }

  private static ObjectSettings settings() {
    return settings(server.endpoint());
  }

  static ObjectSettings settings(URI endpoint) {
    return ObjectSettings.of(endpoint, S3Server.BUCKET);
  }

  static SharedShelf shelf(ObjectSettings settings) {
    return shelf(settings, SEALS);
  }

  static SharedShelf shelf(ObjectSettings settings, BlockSeals seals) {
    return new SharedShelf(
        64, BLOCK_BYTES, (loop, above) -> ObjectBlocks.open(loop, above, settings, seals));
  }

  @Test
  void blocksComeBackAsTheyWereInPacksAndTwiceStoredIsOnceSent() throws Exception {
    try (var shelf = shelf(settings());
        var bucket = new Bucket(settings())) {
      shelf.assertStores(keys(0, 100));
      shelf.assertLoads(keys(0, 100));
      shelf.assertStores(keys(0, 100));
      assertThat(shelf.store.stats().stored()).isEqualTo(100);
      assertThat(shelf.store.stats().present()).isEqualTo(100);
      assertThat(bucket.list(PREFIX + "/k/", 1000)).hasSize(100);
      assertThat(bucket.list(PREFIX + "/p/", 1000)).hasSizeBetween(2, 20);
    }
    try (var single = shelf(Records.with(settings(), "packBytes", 1))) {
      single.assertStores(keys(200, 210));
      single.assertLoads(keys(200, 210));
    }
  }

  @Test
  void anotherProcessFindsWhatIsThereAndAfterARestartOfTheServerToo() throws Exception {
    try (var shelf = shelf(settings())) {
      shelf.assertStores(keys(0, 40));
    }
    server.restart();
    try (var shelf = shelf(settings())) {
      assertThat(shelf.look(List.of(TestBlocks.block(3), TestBlocks.block(99))))
          .containsExactly(Presence.THERE, Presence.ABSENT);
      var listed = shelf.store.list(1000);
      assertThat(listed).hasSize(40);
      assertThat(listed.stream().map(block -> block.hash().first()).sorted())
          .isEqualTo(keys(0, 40));
      shelf.assertLoads(keys(0, 40));
      assertThat(Tally.of(shelf.load(keys(90, 95)))).isEqualTo(new Tally(0, 5, 0));
    }
  }

  @Test
  void everyProtectionGivesBackWhatItWasGivenAndSeesNobodyElsesBlocks() {
    for (var protection : Protection.values()) {
      var secret = protection == Protection.CHECKSUM ? null : SECRET;
      var seals = BlockSeals.of(BLOCK_BYTES, 7, new SealSettings(protection, secret));
      try (var shelf = shelf(settings(), seals)) {
        assertThat(Tally.of(shelf.load(keys(0, 10)))).isEqualTo(new Tally(0, 10, 0));
        shelf.assertStores(keys(0, 10));
      }
      try (var shelf = shelf(settings(), seals)) {
        shelf.assertLoads(keys(0, 10));
      }
    }
  }

  @Test
  void whatWasSwappedOrSpoiledIsRefusedAndReplacedByTheNextStore() throws Exception {
    try (var shelf = shelf(settings());
        var bucket = new Bucket(settings())) {
      shelf.assertStores(keys(0, 8));
      shelf.assertStores(keys(8, 16));
      var packs = bucket.list(PREFIX + "/p/", 10);
      var bytes = pack(bucket, packs.get(0).name());
      var other = pack(bucket, packs.get(1).name());
      bucket.write(PREFIX + "/p/" + packs.get(0).name(), RequestBody.fromBytes(other));
      bytes[bytes.length / 2] ^= 1;
      bucket.write(PREFIX + "/p/" + packs.get(1).name(), RequestBody.fromBytes(bytes));
      assertThat(Tally.of(shelf.load(keys(0, 16)))).isEqualTo(new Tally(0, 16, 0));
      assertThat(shelf.store.stats().damaged()).isEqualTo(16);
      shelf.assertStores(keys(0, 16));
      shelf.assertLoads(keys(0, 16));
      assertThat(shelf.store.stats().stored()).isEqualTo(32);
    }
  }

  private static byte[] pack(Bucket bucket, String name) throws IOException {
    return Objects.requireNonNull(bucket.read(PREFIX + "/p/" + name, 0, 1 << 20));
  }

  @Test
  void theClaimOfADeadServerIsTakenOverOnceByWhoeverComesFirstAfterTheTtl() throws Exception {
    try (var proxy = new HttpProxy(server.port)) {
      takeOver(proxy.endpoint());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT1H", "PT-1H"})
  void claimsLiveAsLongWhenTheClockOfTheBucketIsAnHourOff(Duration ahead) throws Exception {
    try (var proxy = new HttpProxy(server.port);
        var shifted = new TcpProxy(proxy.endpoint().getPort())) {
      shifted.clockAhead(ahead);
      takeOver(URI.create("http://127.0.0.1:" + shifted.port()));
    }
  }

  private void takeOver(URI endpoint) throws Exception {
    var ttl = Duration.ofSeconds(2);
    try (var bucket = new Bucket(settings());
        var one = shelf(settings(endpoint).withClaimTtl(ttl));
        var two = shelf(settings(endpoint).withClaimTtl(ttl))) {
      var dead = new Claim("00000000000000aa", "00000000000000aa-1", 8);
      for (long key = 0; key < 8; key++) {
        var name = PREFIX + "/k/" + BlockName.of(TestBlocks.block(key));
        assertThat(bucket.create(name, dead.bytes())).isNotNull();
      }
      assertThat(Tally.of(one.store(keys(0, 8)))).isEqualTo(new Tally(0, 0, 0, 8));
      assertThat(one.store.stats().busy()).isEqualTo(8);
      assertThat(one.store.stats().failed()).isZero();
      assertThat(Tally.of(one.load(keys(0, 8)))).isEqualTo(new Tally(0, 8, 0));
      while (one.store.stats().stored() + two.store.stats().stored() < 8) {
        var mine = CompletableFuture.supplyAsync(() -> one.store(keys(0, 8)));
        two.store(keys(0, 8));
        mine.join();
      }
      one.assertStores(keys(0, 8));
      two.assertStores(keys(0, 8));
      assertThat(one.store.stats().stored() + two.store.stats().stored()).isEqualTo(8);
      one.assertLoads(keys(0, 8));
      two.assertLoads(keys(0, 8));
    }
  }

  @Test
  void claimsAreGivenUpWhenTheUploadFailsOrIsGivenUp() throws Exception {
    for (var fault : List.of(Fault.ERROR_503, Fault.STALL, Fault.RESET)) {
      empty();
      try (var proxy = new HttpProxy(server.port);
          var bucket = new Bucket(settings());
          var failing = shelf(settings(proxy.endpoint()).withClaimTtl(Duration.ofSeconds(2)));
          var other = shelf(settings())) {
        proxy.plan((method, path) -> isPack(method, path) ? fault : Fault.NONE);
        do {
          assertThat(Tally.of(failing.store(keys(0, 8)))).isEqualTo(new Tally(0, 0, 8));
          // On a busy machine the server may not answer in time when claims are given up.
        } while (!isSoonEmpty(bucket));
        // What is not in the list any more can still be in the way for a moment.
        while (Tally.of(other.store(keys(0, 8))).copied() < 8) ServerProcess.pause();
        other.assertLoads(keys(0, 8));
        assertThat(other.store.stats().stored()).isEqualTo(8);
      }
    }
  }

  private static boolean isSoonEmpty(Bucket bucket) throws IOException {
    for (int look = 0; look < 100; look++) {
      if (bucket.list(PREFIX + "/k/", 10).isEmpty()) return true;
      ServerProcess.pause();
    }
    return false;
  }

  private static boolean isPack(String method, String path) {
    return method.equals("PUT") && path.contains("/p/");
  }

  @Test
  void theBucketIsKeptWithinItsBoundAndTheOldestGoFirst() throws Exception {
    var bound = new ObjectSettings.Bound(Duration.ofDays(1), 200_000, Duration.ofDays(1));
    var settings = Records.with(settings(), "bound", bound).withClaimTtl(Duration.ofSeconds(2));
    var blocks = new ObjectBlocks(settings, SEALS);
    try (var shelf = shelf(settings)) {
      shelf.assertStores(keys(0, 8));
      // Times in a bucket are in seconds.
      Thread.sleep(1100);
      shelf.assertStores(keys(8, 16));
      var swept = blocks.sweeper().sweep();
      assertThat(swept.packs()).isEqualTo(1);
      assertThat(swept.packsRemoved()).isEqualTo(1);
      assertThat(swept.bytes()).isLessThan(200_000);
      shelf.assertLoads(keys(8, 16));
      assertThat(Tally.of(shelf.load(keys(0, 8)))).isEqualTo(new Tally(0, 8, 0));
      // What went can come again, though its claims are still there until they are old enough.
      while (Tally.of(shelf.store(keys(0, 8))).copied() < 8) ServerProcess.pause();
      shelf.assertLoads(keys(0, 8));
    }
    blocks.close();
    var none = new ObjectSettings.Bound(Duration.ofMillis(1), 1, Duration.ofDays(1));
    var brief = Records.with(settings(), "bound", none).withClaimTtl(Duration.ofMillis(500));
    var last = new ObjectBlocks(brief, SEALS);
    try (var bucket = new Bucket(settings())) {
      long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
      while (!bucket.list(PREFIX, 10).isEmpty()) {
        try {
          last.sweeper().sweep();
        } catch (IOException e) {
          assertThat(System.nanoTime()).as("%s", e).isLessThan(end);
        }
      }
    }
    last.close();
  }

  @Test
  void aSweepReachesEveryClaimHoweverManyThereAre() throws Exception {
    int claims = 1_100;
    var bound = new ObjectSettings.Bound(Duration.ofDays(1), 200_000, Duration.ofDays(1));
    var settings = Records.with(settings(), "bound", bound).withClaimTtl(Duration.ofSeconds(2));
    var blocks = new ObjectBlocks(settings, SEALS);
    var patient = settings().limits().withTimeout(Duration.ofSeconds(20));
    var slow = settings().withClaimTtl(Duration.ofMinutes(1));
    try (var bucket = new Bucket(Records.with(slow, "limits", patient))) {
      var dead = new Claim("00000000000000aa", "00000000000000aa-1", 8);
      for (long key = 0; key < claims; key++) {
        bucket.create(PREFIX + "/k/" + BlockName.of(TestBlocks.block(key)), dead.bytes());
      }
      // All of them are older than the TTL and the timeout together then.
      Thread.sleep(5_000);
      assertThat(blocks.sweeper().sweep().claimsRemoved()).isEqualTo(claims);
      assertThat(bucket.list(PREFIX + "/k/", 2 * claims)).isEmpty();
    }
    blocks.close();
  }

  @Test
  void twoProcessesThatRaceUploadEachBlockOnce() throws Exception {
    int blocks = Seeds.scale() == 1 ? 200 : 10_000;
    var accounts = RaceChild.race("object", server.endpoint().toString(), blocks);
    System.out.println("race for " + blocks + " blocks in a bucket: " + accounts);
    assertThat(accounts.stream().mapToLong(RaceChild.Account::stored).sum()).isEqualTo(blocks);
    assertThat(accounts).allMatch(account -> account.failed() == 0);
    assertThat(accounts).allMatch(account -> account.stored() >= blocks / 20);
    try (var shelf = RaceChild.shelf("object", server.endpoint().toString())) {
      shelf.assertLoads(keys(0, blocks));
    }
  }

  @Test
  void settingsThatMakeNoSenseAreRefusedWithTheirValues() {
    var good = ObjectSettings.of(URI.create("http://localhost:1"), "blocks");
    assertThatThrownBy(() -> ObjectSettings.of(URI.create("ftp://h"), "blocks"))
        .hasMessageContaining("endpoint ftp://h");
    assertThatThrownBy(() -> ObjectSettings.of(URI.create("http://h"), "B"))
        .hasMessageContaining("bucket 'B'");
    assertThatThrownBy(() -> new ObjectPlace(null, "us-east-1", "blocks", "/a"))
        .hasMessageContaining("prefix '/a'");
    assertThatThrownBy(() -> Records.with(good, "packBytes", 0))
        .hasMessageContaining("packs of 0 bytes");
    var slow = good.limits().withTimeout(Duration.ofSeconds(40));
    assertThatThrownBy(() -> Records.with(good, "limits", slow))
        .hasMessageContaining("at least twice the timeout of PT40S");
    assertThatThrownBy(() -> new ObjectSettings.Bound(Duration.ZERO, 1, Duration.ofDays(1)))
        .hasMessageContaining("PT0S");
  }
}
