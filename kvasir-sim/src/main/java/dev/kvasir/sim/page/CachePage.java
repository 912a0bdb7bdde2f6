package dev.kvasir.sim.page;

import dev.kvasir.sim.cache.CacheStudy;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** The page about what caches would find of a trace. */
public final class CachePage {
  private final CacheStudy study;

  private CachePage(CacheStudy study) {
    this.study = study;
  }

  /** The whole page. */
  public static String of(CacheStudy study, RunDescription description) {
    var made = new CachePage(study);
    var page =
        new Page(
            "What caches find",
            "One cache without time: only its size and its eviction policy decide.");
    made.headlines(page);
    page.chapter("What each size finds");
    page.charts(List.of(made.curves()));
    page.inputs(description);
    return page.end();
  }

  private void headlines(Page page) {
    page.html().open("dl", "class", "figures");
    page.headline(
        "Never used again",
        Figures.share(study.neverReused()),
        "of " + Figures.count(study.distinct()) + " different blocks");
    page.headline(
        "Prompts refer to",
        Figures.count(study.references()),
        "blocks, the same ones counted again");
    var gaps = study.gapSeconds();
    if (!gaps.isEmpty()) {
      page.headline(
          "Used again after, p50",
          Figures.seconds(gaps.get(1)),
          "p10 " + Figures.seconds(gaps.get(0)) + ", p90 " + Figures.seconds(gaps.get(2)));
    }
    page.html().close("dl");
  }

  private Chart curves() {
    var words = study.sizes().stream().map(size -> Figures.count(size.blocks())).toList();
    return new Chart(
        "Found in cache",
        "More memory moves to the right; a better policy, or a hint from callers, moves up.",
        Axis.words("blocks", words),
        Axis.shares("found", 0),
        IntStream.range(0, words.size()).asDoubleStream().toArray(),
        List.of(
            curve("lru", 0, CacheStudy.Size::lru),
            curve("learned", 1, CacheStudy.Size::learned),
            curve("optimal", 2, CacheStudy.Size::optimal)));
  }

  private Series curve(String name, int colour, ToDoubleFunction<CacheStudy.Size> figure) {
    return Series.dotted(name, colour, study.sizes().stream().mapToDouble(figure).toArray());
  }
}
