package dev.kvasir.sim.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.cost.FleetHardware;
import dev.kvasir.sim.cost.Prices;
import dev.kvasir.sim.report.Comparison;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.report.Made;
import dev.kvasir.sim.report.Summary;
import java.io.StringReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

final class PagesTest {
  private static final Pattern TAG = Pattern.compile("<(/?)([a-z][a-z0-9]*)[^>]*>");
  private static final Pattern PICTURE = Pattern.compile("<svg.*?</svg>", Pattern.DOTALL);
  private static final RunDescription ASKED =
      new RunDescription(
          "kvasir simulate --trace 'a <b> & \"c\".jsonl'",
          List.of(new RunDescription.Setting("instances", "2")));

  @Test
  void thePageOfARunHasAllItsParts() {
    var page = RunPage.of(Made.run(100), Made.scale(Duration.ofMillis(150)), ASKED);

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
    var page = RunPage.of(Made.run(10), Made.scale(Duration.ZERO), ASKED);

    assertThat(page)
        .contains("--trace 'a &lt;b&gt; &amp; &quot;c&quot;.jsonl'")
        .doesNotContain("a <b>");
  }

  @Test
  void pagesAskNothingOfAnybody() {
    for (var page : pages()) {
      assertThat(page)
          .contains("default-src 'none'")
          .doesNotContain(
              "http:", "https:", "src=", "href=", "url(", "@import", "fetch(", "import");
    }
  }

  @Test
  void everyTagIsClosedInItsPlace() {
    for (var page : pages()) {
      var open = new ArrayDeque<String>();
      var markup = page.replaceAll("(?s)<(script|style)>.*?</\\1>", "");
      var tags = TAG.matcher(markup);
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
      for (var picture : pictures) {
        var svg = picture.getDocumentElement();
        assertThat(svg.getAttribute("role")).isEqualTo("img");
        assertThat(svg.getAttribute("aria-label")).isNotBlank();
        assertThat(page).contains("<h3>" + svg.getAttribute("aria-label").split("\\.", 2)[0]);
      }
      assertThat(page.split("As a table", -1)).hasSize(pictures.size() + 1);
    }
  }

  @Test
  void picturesLieWithinTheirFrames() {
    var numbers = Pattern.compile("[ML](-?[0-9.]+) (-?[0-9.]+)");
    for (var page : pages()) {
      var places = numbers.matcher(page);
      while (places.find()) {
        assertThat(Double.parseDouble(places.group(1))).isBetween(0.0, 400.0);
        assertThat(Double.parseDouble(places.group(2))).isBetween(0.0, 230.0);
      }
      assertThat(page).doesNotContain("NaN", "Infinity");
    }
  }

  @Test
  void theSameRunGivesTheSamePage() {
    assertThat(pages()).isEqualTo(pages());
  }

  @Test
  void aRunWithoutRequestsStillHasAPage() {
    assertThat(RunPage.of(Made.run(0), Made.scale(Duration.ZERO), ASKED))
        .contains("0 requests")
        .doesNotContain("NaN");
  }

  @Test
  void theComparisonNamesTheBest() {
    assertThat(comparison())
        .contains("Comparison of 4 settings", "instances=2, eviction=lru</strong>")
        .contains("Cost against targets", "First token, p99", "Found in cache", "GPU-hours");
  }

  private static List<String> pages() {
    return List.of(
        RunPage.of(Made.run(100), Made.scale(Duration.ofMillis(150)), ASKED),
        RunPage.of(Made.run(1), Made.scale(Duration.ZERO), ASKED),
        comparison(),
        ComparisonPage.of(
            Made.comparison(0.9, List.of(Made.point("a", 1, new FleetHardware(1, Map.of(), 0)))), ASKED));
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
        new Comparison(List.of("instances", "eviction"), points, targets, 0.99), ASKED);
  }

  private static List<Document> pictures(String page) {
    var documents = new ArrayList<Document>();
    var pictures = PICTURE.matcher(page);
    while (pictures.find()) documents.add(parsed(pictures.group()));
    return documents;
  }

  private static Document parsed(String picture) {
    try {
      var builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
      return builder.parse(new InputSource(new StringReader(picture)));
    } catch (Exception broken) {
      throw new AssertionError(picture, broken);
    }
  }
}
