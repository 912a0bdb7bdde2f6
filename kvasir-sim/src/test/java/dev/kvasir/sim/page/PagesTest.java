package dev.kvasir.sim.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.cost.FleetHardware;
import dev.kvasir.sim.cost.Prices;
import dev.kvasir.sim.report.Comparison;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.report.Made;
import dev.kvasir.sim.report.Summary;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class PagesTest {
  private static final Pattern TAG = Pattern.compile("<(/?)([a-z][a-z0-9]*)[^>]*>");
  private static final Pattern PICTURE =
      Pattern.compile(
          "<h3>([^<]*)</h3>.{0,400}?<div class=\"plot\" role=\"img\""
              + " aria-label=\"([^\"]*)\"></div>\\s*<script"
              + " type=\"application/json\">([^<]*)</script>",
          Pattern.DOTALL);
  private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);
  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final RunDescription DESCRIPTION =
      new RunDescription(
          "kvasir simulate --trace 'a <b> & \"c\".jsonl'",
          List.of(new RunDescription.Setting("instances", "2")));

  @Test
  void thePageOfARunHasAllItsParts() {
    var page = RunPage.of(Made.run(100), Made.scale(Duration.ofMillis(150)), DESCRIPTION);

    assertThat(page)
        .contains("To the first token", "Between tokens", "To the last token")
        .contains("Found in cache, by tier", "Queue and batch", "First token, over time")
        .contains("<h2>Tiers</h2>", "<h2>Instances</h2>", "<h2>What was asked</h2>")
        .contains("Goodput", "51.0 % within targets", "target 150 ms")
        .contains("100 requests on 2 instances")
        .contains("prefers-color-scheme: dark", "width=device-width");
    assertThat(pictures(page)).hasSize(6);
  }

  @Test
  void whatWasAskedIsShownAsItWasWritten() {
    var page = RunPage.of(Made.run(10), Made.scale(Duration.ZERO), DESCRIPTION);

    assertThat(page)
        .contains("--trace 'a &lt;b&gt; &amp; &quot;c&quot;.jsonl'")
        .doesNotContain("a <b>");
  }

  @Test
  void namesInChartsAreText() {
    var name = "</script><script>alert(1)</script><!--";
    var page =
        ComparisonPage.of(
            Made.comparison(
                0.9,
                List.of(
                    Made.point(name, 1, new FleetHardware(1, Map.of(), 0)),
                    Made.point("b", 2, new FleetHardware(1, Map.of(), 0)))),
            DESCRIPTION);

    assertThat(page).doesNotContain(name, "<script>alert", "<!--");
    assertThat(pictures(page).getFirst().at("/names/0").asString()).contains(name);
  }

  @Test
  void onlyTheScriptOfThePageMayRun() throws Exception {
    for (var page : pages()) {
      var script = SCRIPT.matcher(page);
      assertThat(script.find()).isTrue();
      var digest =
          MessageDigest.getInstance("SHA-256")
              .digest(script.group(1).getBytes(StandardCharsets.UTF_8));
      assertThat(page)
          .contains("script-src 'sha256-" + Base64.getEncoder().encodeToString(digest) + "'");
      assertThat(script.find()).isFalse();
      assertThat(script.reset().results().toList().getFirst().group(1))
          .startsWith("/*!\nThe MIT License (MIT)")
          .contains("Copyright (c) 2014-2024 Chart.js Contributors")
          .doesNotContain("sourceMappingURL");
    }
  }

  @Test
  void pagesAskNothingOfAnybody() {
    for (var page : pages()) {
      assertThat(COMMENT.matcher(page).replaceAll(""))
          .contains("default-src 'none'")
          .doesNotContain(
              "http:", "https:", "src=", "href=", "url(", "@import", "fetch(", "import(");
      assertThat(markup(page)).doesNotContain("import");
    }
  }

  @Test
  void everyTagIsClosedInItsPlace() {
    for (var page : pages()) {
      var open = new ArrayDeque<String>();
      var tags = TAG.matcher(markup(page));
      while (tags.find()) {
        if (tags.group(2).equals("meta")) continue;
        if (tags.group(1).isEmpty()) open.push(tags.group(2));
        else assertThat(tags.group(2)).isEqualTo(open.pop());
      }
      assertThat(open).isEmpty();
    }
  }

  @Test
  void everyPictureSaysWhatItShowsAndHasATableOfItsFigures() {
    for (var page : pages()) {
      var pictures = pictures(page);
      assertThat(pictures).isNotEmpty();
      var labels = PICTURE.matcher(page).results().toList();
      for (var label : labels) assertThat(label.group(2)).startsWith(label.group(1) + ". ");
      assertThat(page.split("As a table", -1)).hasSize(pictures.size() + 1);
    }
  }

  @Test
  void chartsHaveAFiniteValueForEachPlaceOrNone() {
    for (var page : pages()) {
      for (var picture : pictures(page)) {
        var places = picture.path("places");
        for (var place : places) assertThat(place.isNumber()).isTrue();
        for (var series : picture.path("series")) {
          assertThat(series.path("values").size()).isEqualTo(places.size());
          for (var value : series.path("values")) {
            assertThat(value.isNumber() || value.asString().equals("NaN")).isTrue();
          }
        }
        var x = picture.path("x");
        assertThat(x.path("min").asDouble()).isLessThan(x.path("max").asDouble());
      }
      assertThat(page.replaceAll("(?s)<script.*?</script>", "")).doesNotContain("NaN", "Infinity");
      assertThat(page).doesNotContain("\"Infinity\"");
    }
  }

  @Test
  void theSameRunGivesTheSamePage() {
    assertThat(pages()).isEqualTo(pages());
  }

  @Test
  void aRunWithoutRequestsStillHasAPage() {
    assertThat(RunPage.of(Made.run(0), Made.scale(Duration.ZERO), DESCRIPTION))
        .contains("0 requests")
        .doesNotContain(">NaN", "\"NaN\"");
  }

  @Test
  void theComparisonNamesTheBest() {
    assertThat(comparison())
        .contains("Comparison of 4 settings", "instances=2, eviction=lru</strong>")
        .contains("Cost against targets", "First token, p99", "Found in cache", "GPU-hours");
  }

  private static List<String> pages() {
    return List.of(
        RunPage.of(Made.run(100), Made.scale(Duration.ofMillis(150)), DESCRIPTION),
        RunPage.of(Made.run(1), Made.scale(Duration.ZERO), DESCRIPTION),
        comparison(),
        ComparisonPage.of(
            Made.comparison(0.9, List.of(Made.point("a", 1, new FleetHardware(1, Map.of(), 0)))),
            DESCRIPTION));
  }

  private static String comparison() {
    var points = new ArrayList<Comparison.Point>();
    for (int instances = 1; instances <= 2; instances++) {
      for (var eviction : List.of("lru", "fifo")) {
        var fleet = new FleetHardware(instances, Map.of(Tier.HOST, 100L * instances), 1000);
        var target = Made.scale(Duration.ofMillis(100 + 50L * instances));
        var summary = Summary.of(Made.run(100), target);
        points.add(
            new Comparison.Point(
                List.of("" + instances, eviction), summary, fleet, Prices.GPU_HOURS));
      }
    }
    var targets = new Goodput.Targets(Duration.ofMillis(150), Duration.ZERO, Duration.ZERO);
    return ComparisonPage.of(
        new Comparison(List.of("instances", "eviction"), points, targets, 0.99), DESCRIPTION);
  }

  /** Returns what each picture of the page is drawn from. */
  private static List<JsonNode> pictures(String page) {
    return PICTURE.matcher(page).results().map(found -> JSON.readTree(found.group(3))).toList();
  }

  private static String markup(String page) {
    return page.replaceAll("(?s)<(script|style)[^>]*>.*?</\\1>", "");
  }
}
