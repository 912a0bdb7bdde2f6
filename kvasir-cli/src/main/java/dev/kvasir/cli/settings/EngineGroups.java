package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.cli.config.Choices;
import dev.kvasir.cli.config.CustomSetting;
import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.router.view.Role;
import dev.kvasir.spec.SpecError;
import dev.kvasir.spec.Written;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Engines that differ, by the names of their groups; for the simulator alone.
 *
 * <p>In a file each group is a section under its name, so that a sweep can reach into it, as in
 * {@code engines.groups.large.count}.
 *
 * @param entries in the order of the file
 */
public record EngineGroups(List<Entry> entries) implements CustomSetting<EngineGroups> {
  /** All engines are equal. */
  public static final EngineGroups NONE = new EngineGroups(List.of());

  /** The key below that each group is written. */
  public static final String PATH = "engines.groups";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+");

  public EngineGroups {
    entries = List.copyOf(entries);
  }

  /** A group and its name. */
  public record Entry(String name, Group group) {
    /** Equal engines, which are in no group. */
    public static final Entry ALL = new Entry("", Group.DEFAULT);
  }

  /**
   * The settings of the engines of a group; missing ones are as for all engines.
   *
   * @param count how many servers there are; a group of 0 is left out
   * @param dp data-parallel engines of each server, each with a cache and GPUs of its own
   * @param role what each engine does
   * @param gpu null for {@code hardware.gpu}; the others likewise
   * @param model the name by which requests ask for its model; empty for any
   * @param totalKvBlocks KV blocks of each engine
   * @param gpuHour a GPU for an hour
   */
  public record Group(
      int count,
      int dp,
      Role role,
      @Nullable String gpu,
      @Nullable Long tp,
      @Nullable Double memoryUtilization,
      String model,
      @Nullable Path modelConfig,
      @Nullable Path profile,
      List<Double> alphaCoeffs,
      List<Double> betaCoeffs,
      @Nullable String kvBytesPerToken,
      @Nullable Long totalKvBlocks,
      @Nullable Long sequencesMax,
      @Nullable Long stepTokensMax,
      @Nullable Double gpuHour) {
    public static final Group DEFAULT =
        new Group(
            1, 1, Role.BOTH, null, null, null, "", null, null, List.of(), List.of(), null, null,
            null, null, null);

    public Group {
      alphaCoeffs = List.copyOf(alphaCoeffs);
      betaCoeffs = List.copyOf(betaCoeffs);
      Choices.atLeast("count", count, 0);
      Choices.atLeast("dp", dp, 1);
      if (gpuHour != null && !(gpuHour >= 0)) {
        throw new IllegalArgumentException("gpu-hour " + gpuHour + ", expected 0 or more");
      }
    }

    private HardwareSettings hardware(HardwareSettings usual) {
      return Records.with(
          usual,
          "gpu",
          gpu == null ? usual.gpuOrDefault() : gpu,
          "tp",
          or(tp, usual.tp()),
          "memoryUtilization",
          memoryUtilization == null ? usual.memoryUtilization() : memoryUtilization,
          "model",
          model.isEmpty() ? usual.model() : model,
          "modelConfig",
          modelConfig == null ? usual.modelConfig() : modelConfig,
          "profile",
          profile == null ? usual.profile() : profile,
          "alphaCoeffs",
          alphaCoeffs.isEmpty() ? usual.alphaCoeffs() : alphaCoeffs,
          "betaCoeffs",
          betaCoeffs.isEmpty() ? usual.betaCoeffs() : betaCoeffs,
          "kvBytesPerToken",
          kvBytesPerToken == null ? usual.kvBytesPerToken() : kvBytesPerToken);
    }

    private EnginesSettings engines(EnginesSettings usual) {
      int all = Math.multiplyExact(count, dp);
      return Records.with(
          usual,
          "count",
          role == Role.BOTH ? all : 0,
          "prefill",
          role == Role.PREFILL ? all : 0,
          "decode",
          role == Role.DECODE ? all : 0,
          "totalKvBlocks",
          or(totalKvBlocks, usual.totalKvBlocks()),
          "sequencesMax",
          or(sequencesMax, usual.sequencesMax()),
          "stepTokensMax",
          or(stepTokensMax, usual.stepTokensMax()),
          "groups",
          NONE);
    }

    private static int or(@Nullable Long own, int usual) {
      return own == null ? usual : Math.toIntExact(own);
    }
  }

  public boolean isEmpty() {
    return entries.isEmpty();
  }

  public List<String> names() {
    return entries.stream().map(Entry::name).toList();
  }

  /** The groups that have engines. */
  public List<Entry> present() {
    return entries.stream().filter(each -> each.group.count > 0).toList();
  }

  boolean canHandOver() {
    return present().stream().anyMatch(each -> each.group.role == Role.PREFILL);
  }

  /** The engines of one group as a deployment of their own. */
  public static Deployment deployment(Deployment whole, Entry entry) {
    var group = entry.group;
    boolean isOther = group.gpu != null || group.tp != null || group.modelConfig != null;
    if (isOther && group.profile == null && whole.hardware().profile() != null) {
      throw new IllegalArgumentException(
          "%s.%s has another GPU or model than hardware.profile is of: give the profile in each"
                  .formatted(PATH, entry.name)
              + " group, or in none");
    }
    var price = group.gpuHour == null ? whole.cost().gpuHour() : group.gpuHour;
    return Records.with(
        whole,
        "workers",
        List.of(),
        "hardware",
        group.hardware(whole.hardware()),
        "engines",
        group.engines(whole.engines()),
        "cost",
        Records.with(whole.cost(), "gpuHour", price));
  }

  @Override
  public EngineGroups read(String path, Written written) {
    if (!(written instanceof Written.Keys named) || named.values().isEmpty()) {
      throw new SpecError(
          written.origin().place() + ": " + path,
          "there is no group",
          "write each group under its name, as in 'large: {count: 2, gpu: H200}', or leave it out");
    }
    var groups = new ArrayList<Entry>();
    for (var each : named.values().sequencedEntrySet()) groups.add(entry(path, each));
    return new EngineGroups(groups);
  }

  private static Entry entry(String path, Map.Entry<String, Written> written) {
    var name = written.getKey();
    var at = path + "." + name;
    if (!NAME.matcher(name).matches()) {
      throw new SpecError(
          written.getValue().origin().place() + ": " + at,
          "a group is named '" + name + "'",
          "use letters, digits, - and _");
    }
    if (!(written.getValue() instanceof Written.Keys keys) || keys.values().isEmpty()) {
      throw new SpecError(
          written.getValue().origin().place() + ": " + at,
          "the group says nothing",
          "write its keys, as in '" + name + ": {count: 2, gpu: H200}'");
    }
    return new Entry(name, RecordReader.read(at + ".", keys, Group.DEFAULT));
  }

  @Override
  public List<KeyPaths.Key> keys(String path) {
    return KeyPaths.of(path + "[].", Group.DEFAULT);
  }
}
