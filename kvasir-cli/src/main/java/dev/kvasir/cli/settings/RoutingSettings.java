package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.Choices;
import dev.kvasir.gateway.prompt.ModelText;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.net.Secret;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.pick.BalancedPick;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Scorer;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.placement.RouteClass;
import dev.kvasir.router.placement.StickyLimits;
import dev.kvasir.router.view.SloTargets;
import dev.kvasir.router.view.TierCredit;
import dev.kvasir.text.UnsupportedText;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * Settings for routing requests to workers.
 *
 * @param policy the policy that chooses the worker that answers
 * @param placement the policy that decides where to prefill
 * @param scorers what the policy weighted adds up, as NAME:WEIGHT with commas between them
 * @param prices what the policy balanced adds up
 * @param credits what cached blocks are worth below the workers' own memory
 * @param naming what prompts are told apart by; null for tokens where workers tell KV events, else
 *     bytes
 * @param tokenizer the folder with tokenizer.json and the chat template of the workers' model, or
 *     MODEL=FOLDER for each of several with commas between them; empty to ask workers for tokens
 * @param warmTokensMax fewer uncached tokens are computed where they are answered, whatever the
 *     prompt; 0 for 512, or a sixteenth of the context of embedded engines where that is less
 * @param heavyTokensMin as many uncached tokens may be computed elsewhere; 0 for 2048, or a quarter
 *     of the context of embedded engines where that is less
 * @param indexBlocks how many different blocks the router knows of, on all workers together
 * @param prefill how fast workers are taken to be, and how much they prefill for others
 * @param margins what decides between two places to prefill
 * @param targets when tokens are due, for the placement slo
 * @param sessionPatience how much later than elsewhere the first token may come where a session was
 *     before; predictive and slo have 50 ms at most
 * @param probePace how often workers are asked how they are
 * @param workerKey what workers are sent as key; null for none
 * @param tenantSecret from which the salts of tenants are made; null for one kept in the cache
 *     folder
 */
public record RoutingSettings(
    String policy,
    String placement,
    String scorers,
    BalancedPick.Prices prices,
    Credits credits,
    Routing.@Nullable Naming naming,
    String tokenizer,
    int warmTokensMax,
    int heavyTokensMin,
    int indexBlocks,
    PrefillSettings prefill,
    Margins margins,
    SloTargets targets,
    Duration sessionPatience,
    Duration probePace,
    @Nullable Secret workerKey,
    @Nullable Secret tenantSecret) {
  public static final RoutingSettings DEFAULT =
      new RoutingSettings(
          PickPolicy.NAMES.getFirst(),
          PlacementPolicy.NAMES.getFirst(),
          WeightedPick.SCORERS_DEFAULT,
          BalancedPick.Prices.DEFAULT,
          Credits.DEFAULT,
          null,
          "",
          0,
          0,
          IndexSettings.DEFAULT.entriesMax(),
          PrefillSettings.DEFAULT,
          Margins.DEFAULT,
          SloTargets.DEFAULT,
          StickyLimits.DEFAULT.patience(),
          Duration.ofSeconds(1),
          null,
          null);

  /**
   * Shares of its prefill, from 0 to 1, that a cached block below the worker's own memory saves;
   * the rest is the time to load it.
   */
  public record Credits(double host, double disk, double remote, double object) {
    public static final Credits DEFAULT =
        new Credits(
            Tier.HOST.credit(), Tier.DISK.credit(), Tier.REMOTE.credit(), Tier.OBJECT.credit());

    public Credits {
      var _ = new TierCredit(1, host, disk, remote, object);
    }

    TierCredit credit() {
      return new TierCredit(1, host, disk, remote, object);
    }
  }

  /**
   * Margins that decide between two places to prefill.
   *
   * @param gain by how much earlier the first token must come elsewhere; also the most that
   *     predictive and slo wait for the worker of a session
   * @param shared by how much earlier besides where the other worker also decodes, as a share of
   *     the time until the first token at home
   * @param interference the share of a prefill that streams beside it lose
   * @param victims as many disturbed streams count as one second each second
   */
  public record Margins(Duration gain, double shared, double interference, int victims) {
    public static final Margins DEFAULT =
        new Margins(
            PlacementSettings.DEFAULT.margin(),
            PlacementSettings.DEFAULT.sharedMargin(),
            PlacementSettings.DEFAULT.interference(),
            PlacementSettings.DEFAULT.victimsMax());

    public Margins {
      var _ = PlacementSettings.DEFAULT.withMargins(interference, victims, gain, shared);
    }
  }

  private static final int INDEX_BLOCKS_MIN = 1_024;
  private static final int INDEX_BLOCKS_MAX = 1 << 26;
  private static final int CONTEXTS_PER_WARM = 16;
  private static final int CONTEXTS_PER_HEAVY = 4;

  public RoutingSettings {
    Choices.require("policy", policy, PickPolicy.NAMES);
    Choices.require("placement", placement, PlacementPolicy.NAMES);
    var _ = Scorer.parse(scorers);
    if (warmTokensMax < 0 || heavyTokensMin < 0) {
      throw new IllegalArgumentException(
          "warm below " + warmTokensMax + " tokens, heavy from " + heavyTokensMin);
    }
    if (indexBlocks < INDEX_BLOCKS_MIN || indexBlocks > INDEX_BLOCKS_MAX) {
      throw new IllegalArgumentException(
          "an index of %d blocks, expected %d to %d"
              .formatted(indexBlocks, INDEX_BLOCKS_MIN, INDEX_BLOCKS_MAX));
    }
    if (sessionPatience.isNegative()) {
      throw new IllegalArgumentException("session-patience " + sessionPatience + " is below 0");
    }
    if (!probePace.isPositive()) throw new IllegalArgumentException("probes every " + probePace);
  }

  /** The tokenizers and templates of models, by name; the empty name is for any model. */
  public Map<String, ModelText> texts() {
    var texts = new TreeMap<String, ModelText>();
    for (var each : tokenizer.isEmpty() ? new String[0] : tokenizer.split(",", -1)) {
      int at = each.indexOf('=');
      texts.put(each.substring(0, Math.max(0, at)), text(each.substring(at + 1)));
    }
    return texts;
  }

  private static ModelText text(String folder) {
    try {
      return ModelText.read(Path.of(folder));
    } catch (NoSuchFileException e) {
      throw unusable(folder, "there is no file " + e.getFile());
    } catch (UnsupportedText | IOException | InvalidPathException e) {
      throw unusable(folder, String.valueOf(e.getMessage()));
    }
  }

  private static IllegalArgumentException unusable(String folder, String why) {
    return new IllegalArgumentException(
        "routing.tokenizer '%s' cannot be used: %s; give the folder with tokenizer.json of the"
                .formatted(folder, why)
            + " workers' model, or leave it out to ask workers");
  }

  /**
   * Returns the settings by which the router of a gateway chooses.
   *
   * @param named what prompts are told apart by
   * @param contextTokens what a conversation may have with embedded engines; 0 for others
   */
  public Routing routing(Routing.Naming named, int contextTokens) {
    return Routing.DEFAULT
        .with(router(contextTokens))
        .with(placements())
        .by(policy, placement)
        .weighing(scorers, prices)
        .with(named);
  }

  /** Returns the settings by which the place of a prefill is chosen. */
  public PlacementSettings placements() {
    return prefill
        .placement()
        .withMargins(margins.interference(), margins.victims(), margins.gain(), margins.shared())
        .with(targets);
  }

  /** Returns the settings for the router's books and classes, in a gateway and in the simulator. */
  public RouterSettings router(int contextTokens) {
    return RouterSettings.DEFAULT
        .withClasses(classes(contextTokens))
        .withIndex(IndexSettings.DEFAULT.withEntries(indexBlocks))
        .withStart(prefill.start().with(credits.credit()))
        .withSessions(StickyLimits.DEFAULT.withPatience(sessionPatience));
  }

  /** The limits of the route classes; smaller for a model with a small context. */
  public RouteClass.Limits classes(int contextTokens) {
    var usual = RouteClass.Limits.DEFAULT;
    int context = contextTokens == 0 ? Integer.MAX_VALUE : contextTokens;
    int heavy = Math.min(usual.heavyTokensMin(), context / CONTEXTS_PER_HEAVY);
    if (heavyTokensMin > 0) heavy = heavyTokensMin;
    int warm = Math.min(usual.warmTokensMax(), context / CONTEXTS_PER_WARM);
    warm = warmTokensMax > 0 ? warmTokensMax : Math.min(warm, heavy);
    return new RouteClass.Limits(warm, usual.warmShareMax(), heavy);
  }
}
