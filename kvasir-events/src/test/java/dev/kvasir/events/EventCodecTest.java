package dev.kvasir.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.Seeds;
import dev.kvasir.events.EngineEvent.KeyPart;
import dev.kvasir.events.EventDecoder.Outcome;
import dev.kvasir.testing.SharedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.msgpack.core.MessagePack;

/** Batches are read and written as engines write them, and nothing else is believed. */
class EventCodecTest {
  private static final EventDecoder DECODER = new EventDecoder(EventLimits.DEFAULT);
  private static final EngineHash FIRST = new EngineHash.Word(0x1efea06206ac0749L);
  private static final EngineHash SECOND = new EngineHash.Word(0xf892553bef84ef0cL);
  private static final EngineEvent.Place GPU = new EngineEvent.Place("GPU", null);

  /** Content of the vectors beside the checkout. */
  private static final EngineBatch KNOWN =
      new EngineBatch(
          1700000000.5,
          List.of(
              new EngineEvent.Stored(
                  List.of(FIRST, SECOND),
                  null,
                  IntStream.range(0, 32).toArray(),
                  16,
                  EngineEvent.Adapter.NONE,
                  GPU,
                  List.of(List.of(), List.of()),
                  new EngineEvent.Group(0, null, null)),
              new EngineEvent.Removed(List.of(SECOND), GPU, 0),
              new EngineEvent.Cleared()),
          0);

  /** Its MessagePack asks for Unsafe unless told otherwise before its first use. */
  @BeforeAll
  static void otherHandNeedsNoUnsafe() {
    System.setProperty("msgpack.universal-buffer", "true");
  }

  @ParameterizedTest
  @EnumSource
  void vectorsOfARealEngineAreReadAndWritten(EventEncoding encoding) throws IOException {
    var bytes = vector(encoding);
    assertSame(decoded(bytes), KNOWN);
    assertThat(EventEncoder.encode(KNOWN, encoding)).isEqualTo(bytes);
  }

  @Test
  void arrayIsWrittenWithAllItsValues() {
    assertThat(hex(EventEncoder.encode(small(), EventEncoding.ARRAY)))
        .isEqualTo(
            "93"
                + "cb3ff8000000000000"
                + "91"
                + ("95" + "ac426c6f636b52656d6f766564" + "9105" + "a3435055" + "c0" + "c0")
                + "c0");
  }

  @Test
  void mapIsWrittenWithoutWhatNobodySet() {
    assertThat(hex(EventEncoder.encode(small(), EventEncoding.MAP)))
        .isEqualTo(
            "93"
                + "cb3ff8000000000000"
                + "91"
                + ("83" + "a474797065" + "ac426c6f636b52656d6f766564")
                + ("ac626c6f636b5f686173686573" + "9105")
                + ("a66d656469756d" + "a3435055")
                + "c0");
  }

  private static EngineBatch small() {
    var cpu = new EngineEvent.Place("CPU", null);
    var removed = new EngineEvent.Removed(List.of(new EngineHash.Word(5)), cpu, null);
    return new EngineBatch(1.5, List.of(removed), null);
  }

  @Test
  void batchOfAnOldSglangIsRead() throws IOException {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(2).packDouble(2.5).packArrayHeader(2);
      packer.packArrayHeader(6).packString("BlockStored");
      packer.packArrayHeader(1).packLong(-7);
      packer.packLong(-8);
      packer.packArrayHeader(2).packInt(1).packInt(200_000);
      packer.packInt(2).packNil();
      packer.packArrayHeader(2).packString("BlockRemoved").packArrayHeader(1).packLong(-9);
      var batch = decoded(packer.toByteArray());
      var stored = (EngineEvent.Stored) batch.events().getFirst();
      assertThat(stored.hashes()).containsExactly(new EngineHash.Word(-7));
      assertThat(stored.parent()).isEqualTo(new EngineHash.Word(-8));
      assertThat(stored.tokens()).containsExactly(1, 200_000);
      assertThat(stored.place().medium()).isNull();
      assertThat(((EngineEvent.Removed) batch.events().getLast()).hashes())
          .containsExactly(new EngineHash.Word(-9));
      assertThat(batch.rank()).isNull();
    }
  }

  @Test
  void theSaltOfSglangIsReadWhereASequenceBegins() throws IOException {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(2).packDouble(2.5).packArrayHeader(2);
      for (int i = 0; i < 2; i++) {
        packer.packMapHeader(6).packString("type").packString("BlockStored");
        packer.packString("block_hashes").packArrayHeader(1).packLong(7 + i);
        packer.packString("parent_block_hash");
        if (i == 0) packer.packNil();
        else packer.packLong(7);
        packer.packString("token_ids").packArrayHeader(1).packInt(5);
        packer.packString("block_size").packInt(1);
        packer.packString("cache_salt").packString("secret");
      }
      var events = decoded(packer.toByteArray()).events();
      assertThat(((EngineEvent.Stored) events.getFirst()).extraKeys())
          .containsExactly(List.of(new KeyPart.Text("secret")));
      assertThat(((EngineEvent.Stored) events.getLast()).extraKeys()).isEmpty();
    }
  }

  @Test
  void valuesOfNewerEnginesArePassedOver() throws IOException {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(4).packDouble(2.5).packArrayHeader(3);
      packer.packMapHeader(1).packString("type").packString("BlockMoved");
      packer.packMapHeader(3).packString("added_later").packArrayHeader(1).packBoolean(true);
      packer.packString("block_hashes").packArrayHeader(0);
      packer.packString("type").packString("BlockRemoved");
      packer.packArrayHeader(7).packString("BlockRemoved").packArrayHeader(0);
      packer.packNil().packNil().packNil().packInt(300).packMapHeader(0);
      packer.packInt(1).packString("later");
      var outcome = (Outcome.Decoded) DECODER.decode(packer.toByteArray());
      assertThat(outcome.unknown()).isEqualTo(1);
      assertThat(outcome.batch().events()).hasSize(2);
      assertThat(outcome.batch().rank()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsWrittenIsReadAgain(EventEncoding encoding) {
    Seeds.each(
        Seeds.scale() == 1 ? 50 : 200 * Seeds.scale(),
        random -> {
          var batch = batch(random);
          assertSame(decoded(EventEncoder.encode(batch, encoding)), batch);
        });
  }

  @ParameterizedTest
  @EnumSource
  void whatIsWrittenIsMessagePackInItsFewestBytes(EventEncoding encoding) {
    Seeds.each(
        100 * Seeds.scale(),
        random -> {
          var bytes = EventEncoder.encode(batch(random), encoding);
          try (var unpacker = MessagePack.newDefaultUnpacker(bytes);
              var packer = MessagePack.newDefaultBufferPacker()) {
            packer.packValue(unpacker.unpackValue());
            assertThat(unpacker.hasNext()).isFalse();
            assertThat(packer.toByteArray()).isEqualTo(bytes);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void noFrameMakesTheDecoderThrow(EventEncoding encoding) {
    Seeds.each(
        500 * Seeds.scale(),
        random -> {
          var bytes = EventEncoder.encode(batch(random), encoding);
          for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
          }
          assertThat(DECODER.decode(bytes)).isNotNull();
          var cut = Arrays.copyOf(bytes, random.nextInt(bytes.length));
          assertThat(DECODER.decode(cut)).isInstanceOf(Outcome.Malformed.class);
          random.nextBytes(bytes);
          assertThat(DECODER.decode(bytes)).isNotNull();
        });
  }

  @Test
  void limitsHoldBeforeAnythingIsMade() {
    assertMalformed("dd7fffffff", "bytes expected");
    assertMalformed("92" + "01" + "dd7fffffff", "bytes expected");
    assertMalformed("93cb3ff8000000000000dd00100000c0", "bytes expected");
    assertMalformed("92cb7ff8000000000000" + "90", "made at NaN");
    assertMalformed("92" + "01" + "91" + "81" + "db7fffffff", "bytes beyond");
    assertMalformed("94" + "01" + "90" + "c0" + "91".repeat(20) + "c0", "deep");
    assertMalformed("92" + "01" + "90" + "c0", "bytes behind the batch");
    var tight = new EventDecoder(new EventLimits(10, 1, 1, 1, 1, 1, 1));
    assertThat(tight.decode(new byte[11])).isInstanceOf(Outcome.TooMuch.class);
  }

  /** 16 MB of hashes as an engine may send them: one byte each. */
  @ParameterizedTest
  @EnumSource
  void whatABatchBecomesIsBounded(DenseFrames.Of of) {
    var frame = DenseFrames.batch(of, 15 << 20);
    var outcome = DECODER.decode(frame);
    switch (of) {
      case UNKNOWN -> assertThat(((Outcome.Decoded) outcome).bytes()).isLessThan(1_000);
      default -> assertThat(outcome).isInstanceOf(Outcome.TooMuch.class);
    }
    long before = HeapUse.allocated();
    DECODER.decode(frame);
    assertThat(HeapUse.allocated() - before).isLessThan(2L * EventLimits.DEFAULT.decodedBytesMax());
  }

  @Test
  void whatRealEnginesSendIsFarFromTheLimits() {
    int blocks = 65_536;
    var hashes = IntStream.range(0, blocks).mapToObj(EventCodecTest::longHash).toList();
    var stored =
        new EngineEvent.Stored(
            hashes,
            null,
            IntStream.range(0, 16 * blocks).toArray(),
            16,
            EngineEvent.Adapter.NONE,
            GPU,
            Collections.nCopies(blocks, List.of()),
            EngineEvent.Group.ONLY);
    var removed = new EngineEvent.Removed(hashes, GPU, null);
    var batch = new EngineBatch(1, List.of(stored, removed), null);
    var outcome = (Outcome.Decoded) DECODER.decode(EventEncoder.encode(batch, EventEncoding.MAP));
    assertThat(outcome.batch().events()).hasSize(2);
    assertThat(outcome.bytes()).isLessThan(EventLimits.DEFAULT.decodedBytesMax() / 3);
    assertThat(((EngineEvent.Stored) outcome.batch().events().getFirst()).hashes())
        .isEqualTo(hashes);
  }

  private static EngineHash longHash(int number) {
    return new EngineHash.Word(0x9e3779b97f4a7c15L * (number + 1));
  }

  /** SGLang that guesses ahead names each position by its token and the next. */
  @Test
  void pairsAreTheTokensThatTheyBeginWith() throws IOException {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(2).packDouble(2.5).packArrayHeader(1);
      packer.packArrayHeader(5).packString("BlockStored");
      packer.packArrayHeader(1).packLong(7).packNil();
      packer.packArrayHeader(2);
      packer.packArrayHeader(2).packInt(11).packInt(12);
      packer.packArrayHeader(2).packInt(12).packInt(13);
      packer.packInt(2);
      var stored = (EngineEvent.Stored) decoded(packer.toByteArray()).events().getFirst();
      assertThat(stored.tokens()).containsExactly(11, 12);
    }
  }

  @Test
  void anEventThatCannotBeReadCostsNoOther() {
    var unreadable = "93" + "ab426c6f636b53746f726564" + "9105" + "a178";
    var removed = "92" + "ac426c6f636b52656d6f766564" + "9109";
    var outcome = decode("92" + "01" + "93" + unreadable + removed + unreadable);
    assertThat(outcome.batch().events())
        .containsExactly(
            new EngineEvent.Removed(
                List.of(new EngineHash.Word(9)), new EngineEvent.Place(null, null), null));
    assertThat(outcome.unreadable()).isEqualTo(2);
    assertThat(outcome.reason()).contains("an integer expected");
  }

  /** Blocks that it removed are not known, and must not be expected. */
  @Test
  void aRemovalThatCannotBeReadRemovesAll() {
    var outcome = decode("92" + "01" + "91" + "92ac426c6f636b52656d6f766564" + "91a178");
    assertThat(outcome.batch().events()).containsExactly(new EngineEvent.Cleared());
    assertThat(outcome.unreadable()).isEqualTo(1);
    assertThat(decode("92" + "01" + "91" + "91ac426c6f636b52656d6f766564").reason())
        .contains("without block_hashes");
  }

  private static Outcome.Decoded decode(String hex) {
    return (Outcome.Decoded) DECODER.decode(HexFormat.of().parseHex(hex));
  }

  private static void assertMalformed(String hex, String reason) {
    assertThat(DECODER.decode(HexFormat.of().parseHex(hex)))
        .isInstanceOfSatisfying(
            Outcome.Malformed.class, malformed -> assertThat(malformed.reason()).contains(reason));
  }

  private static EngineBatch batch(RandomGenerator random) {
    var events = new ArrayList<EngineEvent>();
    for (int i = random.nextInt(20); i > 0; i--) {
      events.add(
          switch (random.nextInt(3)) {
            case 0 -> stored(random);
            case 1 -> new EngineEvent.Removed(hashes(random), place(random), small(random));
            default -> new EngineEvent.Cleared();
          });
    }
    return new EngineBatch(random.nextDouble(1e10), events, small(random));
  }

  private static EngineEvent stored(RandomGenerator random) {
    var keys = new ArrayList<List<KeyPart>>();
    for (int i = random.nextInt(3); i > 0; i--) {
      keys.add(
          random.nextBoolean()
              ? List.of()
              : List.of(
                  new KeyPart.Text("salt"), new KeyPart.Media("image", random.nextInt(1000))));
    }
    return new EngineEvent.Stored(
        hashes(random),
        random.nextBoolean() ? null : hash(random),
        random.ints(random.nextInt(100), 0, Integer.MAX_VALUE).toArray(),
        random.nextInt(1 << random.nextInt(1, 20)),
        new EngineEvent.Adapter(random.nextBoolean() ? null : 7L, text(random)),
        place(random),
        keys,
        new EngineEvent.Group(small(random), text(random), small(random)));
  }

  private static EngineEvent.Place place(RandomGenerator random) {
    return new EngineEvent.Place(text(random), text(random));
  }

  private static List<EngineHash> hashes(RandomGenerator random) {
    var hashes = new ArrayList<EngineHash>();
    for (int i = random.nextInt(20); i > 0; i--) hashes.add(hash(random));
    return hashes;
  }

  private static EngineHash hash(RandomGenerator random) {
    if (random.nextBoolean()) return new EngineHash.Word(random.nextLong() >>> random.nextInt(64));
    var digest = new byte[random.nextBoolean() ? 32 : 16];
    random.nextBytes(digest);
    return EngineHash.Digest.of(digest);
  }

  private static @Nullable Integer small(RandomGenerator random) {
    return random.nextBoolean() ? null : random.nextInt(300);
  }

  private static @Nullable String text(RandomGenerator random) {
    return random.nextBoolean() ? null : "é".repeat(random.nextInt(200));
  }

  private static EngineBatch decoded(byte[] bytes) {
    var outcome = DECODER.decode(bytes);
    assertThat(outcome).isInstanceOf(Outcome.Decoded.class);
    return ((Outcome.Decoded) outcome).batch();
  }

  private static void assertSame(EngineBatch actual, EngineBatch expected) {
    assertThat(actual).usingRecursiveComparison().isEqualTo(expected);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static byte[] vector(EventEncoding encoding) throws IOException {
    var name = encoding + " ";
    try (var lines = Files.lines(SharedFiles.of("reference/router_vectors.txt"))) {
      var line = lines.filter(text -> text.startsWith(name)).findFirst().orElseThrow();
      return HexFormat.of().parseHex(line.substring(name.length()));
    }
  }
}
