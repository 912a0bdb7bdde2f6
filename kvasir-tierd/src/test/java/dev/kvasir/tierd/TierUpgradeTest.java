package dev.kvasir.tierd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.tierd.cache.TierFolder;
import dev.kvasir.tierd.offline.TierContents;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tiers.disk.Ack;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests folders that earlier versions left, and folders that are still in use. */
@Timeout(180)
class TierUpgradeTest {
  private static final Logger LOG = Logger.getLogger("dev.kvasir.net");
  private static final long BYTES = 4 << 20;

  @TempDir Path temp;

  private static String vllm(String more) {
    return "chunk-tokens=32\nengine=vllm\n"
        + more
        + "model=pocket\nrow-bytes="
        + TierClient.ROW_BYTES
        + "\nweights=strong:ab";
  }

  private TierClient connect(String namespace) throws IOException {
    return TierClient.connect(temp.resolve("sock"), temp.resolve("rows"), 8, namespace);
  }

  private Path folder(String namespace) throws IOException {
    var folder = TierFolder.of(temp.resolve("tier"), Namespace.parse(namespace));
    var path = folder.create(Namespace.parse(namespace));
    Files.writeString(path.resolve("blocks.kv"), "of before", UTF_8);
    return folder.path();
  }

  /** Puts there what version 0.1 wrote: a namespace of a daemon, and the folder of engines. */
  private Path earlier(String name) throws IOException {
    var to = Files.createDirectories(temp.resolve(name));
    var resource = Objects.requireNonNull(getClass().getResourceAsStream("/tier/earlier.zip"));
    try (var files = new ZipInputStream(resource)) {
      for (var each = files.getNextEntry(); each != null; each = files.getNextEntry()) {
        var path = to.resolve(each.getName());
        if (each.isDirectory()) Files.createDirectories(path);
        else Files.copy(files, path);
      }
    }
    return to;
  }

  private static Path only(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files.toList().getFirst();
    }
  }

  @Test
  void whatAnEarlierDaemonWroteIsFreedAndNeverFound() throws Exception {
    LOG.setLevel(Level.SEVERE);
    var earlier = only(Files.move(earlier("then").resolve("tier"), temp.resolve("tier")));
    var text = Files.readString(earlier.resolve("namespace"));
    assertThat(Files.size(earlier.resolve("kv/blocks.kv"))).isPositive();
    try (var _ = TierDaemon.open(TierChild.settings(temp, BYTES, BYTES));
        var engine = TierClient.open(temp.resolve("sock"), temp.resolve("rows"), 8)) {
      assertThat(earlier).doesNotExist();
      var space = text.replace("model=", "keys=2\nmodel=");
      engine.send(TierClient.hello(2, 512, 8, temp.resolve("rows").toString(), space));
      assertThat(engine.read().get()).isEqualTo((byte) 0x81);
      assertThat(engine.look(1, 2, 3)).containsExactly(0, 0, 0);
    }
  }

  /** Another daemon may be about to be replaced, and has its files open. */
  @Test
  void aFolderThatSomebodyUsesOrThatIsNotOursIsLeftAlone() throws Exception {
    LOG.setLevel(Level.OFF);
    var used = only(Files.move(earlier("then").resolve("tier"), temp.resolve("tier")));
    var strange = folder(vllm("").replace("pocket", "thesis"));
    Files.writeString(strange.resolve("kv/thesis.tex"), "precious", UTF_8);
    var copied = Files.createDirectories(temp.resolve("tier/notes"));
    Files.writeString(copied.resolve("namespace"), vllm(""), UTF_8);
    try (var _ = TierContents.open(new TierFolder(used));
        var _ = TierDaemon.open(TierChild.settings(temp, BYTES, BYTES))) {
      assertThatThrownBy(() -> connect(vllm("keys=2\n")))
          .hasMessageContaining(used + "/kv is in use by process");
    }
    assertThat(used.resolve("kv/blocks.kv")).exists();
    assertThat(strange.resolve("kv/thesis.tex")).exists();
    assertThat(copied.resolve("namespace")).exists();
  }

  @Test
  void aFolderOfEnginesWithAnotherLayoutIsEmptiedAndUsed() throws Exception {
    LOG.setLevel(Level.OFF);
    var folder = earlier("then").resolve("engines");
    try (var loop = new LiveLoop("engines");
        var above = new HostMemory("above", 1, 512)) {
      try (var same = DiskStore.open(loop, above, engines(folder, 7))) {
        assertThat(same.recovered()).hasSize(2);
      }
      try (var other = DiskStore.open(loop, above, engines(folder, 8))) {
        assertThat(other.recovered()).isEmpty();
      }
      assertThat(Files.readAllBytes(folder.resolve("blocks.kv"))).containsOnly(0);
      try (var same = DiskStore.open(loop, above, engines(folder, 8))) {
        assertThat(same.recovered()).isEmpty();
      }
    }
  }

  /** Tests that tools that only look change nothing. */
  @Test
  void toolsRefuseAFolderThatTheyCannotRead() throws Exception {
    var space = new TierFolder(only(earlier("then").resolve("tier")));
    var index = space.blocks().resolve("index.log");
    var bytes = Files.readAllBytes(index);
    bytes[8] = 9;
    Files.write(index, bytes);
    assertThatThrownBy(() -> TierContents.open(space))
        .hasMessageContaining("format version 9, not 1");
    assertThat(Files.readAllBytes(index)).isEqualTo(bytes);
    space.delete();
    assertThat(space.path()).doesNotExist();
  }

  private static DiskSettings engines(Path folder, long layout) {
    return new DiskSettings(folder, 2, 512, layout, Ack.STORED, 1, 16);
  }

  @Test
  void foldersOfEarlierKeysAreDeletedAndOthersAreKept() throws Exception {
    LOG.setLevel(Level.SEVERE);
    var earlier = folder(vllm(""));
    var sglang = folder(vllm("").replace("engine=vllm", "engine=sglang"));
    var present = folder(vllm("keys=2\n"));
    var clients = folder(TierClient.namespace("aa"));
    try (var _ = TierDaemon.open(TierChild.settings(temp, BYTES, BYTES))) {
      assertThat(List.of(earlier, sglang)).noneMatch(Files::exists);
      assertThat(List.of(present, clients)).allMatch(Files::exists);
    }
  }

  @Test
  void anEarlierPackageIsRefusedAndToldWhy() throws Exception {
    LOG.setLevel(Level.SEVERE);
    try (var _ = TierDaemon.open(TierChild.settings(temp, BYTES, 0));
        var engine = connect(vllm("keys=2\n"))) {
      assertThat(engine.store(1)).containsExactly(0);
      assertThatThrownBy(() -> connect(vllm("")))
          .hasMessageContaining("error 3")
          .hasMessageContaining("earlier package");
      assertThat(engine.look(1)).containsExactly(1);
    }
  }

  /** So what lies in a Redis or a bucket under an earlier name is never found again. */
  @Test
  void aBlockHasAnotherNameThanEarlierVersionsGaveIt() {
    var hash = new BlockHash(1, 2, 3, 4);
    var earlier = Namespace.parse(vllm(""));
    var present = Namespace.parse(vllm("keys=2\n"));
    assertThat(present.mixed(hash, 0)).isNotEqualTo(earlier.mixed(hash, 0));
    assertThat(present.isOutdated()).isFalse();
  }
}
