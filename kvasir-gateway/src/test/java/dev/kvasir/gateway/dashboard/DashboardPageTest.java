package dev.kvasir.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.Availability;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page in a real browser. */
@Timeout(180)
@Tag("all")
class DashboardPageTest {
  private static final int CTRL = 2;
  private static final String LIVE = "document.querySelector('#link')?.dataset.is === 'live'";

  private static final String CHART = "Chart.getChart(document.querySelector('#ttft canvas'))";

  /** Names the elements whose text is too faint for the background of the page or of a card. */
  private static final String CONTRAST =
      """
      (() => {
        const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b]
          .map((c) => c / 255)
          .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = (element) => {
          for (let e = element; e; e = e.parentElement) {
            const colour = parse(getComputedStyle(e).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
          }
          return [255, 255, 255];
        };
        return [...document.querySelectorAll("main *, header *, footer *")]
          .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== ""))
          .filter((e) => e.getClientRects().length > 0 && !e.closest("[data-is=down]"))
          .filter((e) => {
            const [a, b] = [parse(getComputedStyle(e).color), behind(e)].map(light);
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
          })
          .map((e) => e.outerHTML.slice(0, 120))
          .join("\\n");
      })()
      """;

  private static Chromium chromium;

  private SampleServer server;
  private Tab tab;

  @BeforeAll
  static void start() throws Exception {
    var program = Chromium.program();
    assumeTrue(program.isPresent(), "needs Chromium on the PATH, e.g. Debian's package chromium");
    chromium = Chromium.start(program.get());
  }

  @AfterAll
  static void stop() {
    if (chromium != null) chromium.close();
  }

  @BeforeEach
  void open() throws Exception {
    server = new SampleServer();
    tab = chromium.tab();
    tab.size(1280, 800, 1);
  }

  @AfterEach
  void close() {
    tab.close();
    server.close();
  }

  private void show(DashboardState state) throws InterruptedException {
    server.show(state);
    tab.go(server.url());
    tab.until(LIVE);
  }

  @Test
  void figuresAreShownAndFollowTheServer() throws Exception {
    show(Sample.busy(1_204, Availability.READY));
    assertThat(tab.text("#about")).contains("kvasir-tiny", "0.1.0", "2 h 34 min");
    assertThat(tab.text("#instances li [data-f=requests]")).isEqualTo("1,204");
    assertThat(tab.text("#tiers .edge [data-f=waiting]")).isEqualTo("24");
    assertThat(tab.text("#ttft [data-f=p50]")).endsWith(" ms");
    var line = CHART + ".getDatasetMeta(0).data.filter(point => !point.skip)";
    assertThat(tab.value(line + ".at(-1).x - " + line + "[0].x > 200")).isEqualTo("true");
    server.show(Sample.busy(1_205, Availability.READY));
    tab.until("document.querySelector('#instances [data-f=requests]').textContent === '1,205'");
    assertThat(tab.complaints()).isEmpty();
  }

  @Test
  void chartShowsFiguresUnderThePointerAndZoomsIn() throws Exception {
    show(Sample.busy(1_204, Availability.READY));
    var box = "document.querySelector('#ttft canvas').getBoundingClientRect()";
    double x = Double.parseDouble(tab.value(box + ".x"));
    double y = Double.parseDouble(tab.value(box + ".y + 40"));
    double width = Double.parseDouble(tab.value(box + ".width"));
    tab.mouse("mouseMoved", x + 0.9 * width, y);
    tab.until(CHART + ".tooltip?.opacity === 1");
    assertThat(tab.value(CHART + ".tooltip.title[0]")).endsWith(" s ago");
    assertThat(tab.value(CHART + ".tooltip.body.map(each => each.lines[0]).join()"))
        .matches("median: [0-9.]+ ms,p99: [0-9.]+ ms");

    tab.mouse("mousePressed", x + 0.6 * width, y);
    tab.mouse("mouseMoved", x + 0.7 * width, y);
    tab.mouse("mouseReleased", x + 0.8 * width, y);
    tab.until("(x => x.min > -200 && x.max < -20 && x.min < x.max)(" + CHART + ".scales.x)");
    server.show(Sample.busy(1_205, Availability.READY));
    tab.until("document.querySelector('#instances [data-f=requests]').textContent === '1,205'");
    assertThat(tab.value(CHART + ".scales.x.min > -200")).isEqualTo("true");
    tab.value("document.querySelector('#ttft button').click()");
    assertThat(tab.value(CHART + ".scales.x.min")).isEqualTo("-300");
    assertThat(tab.value("document.querySelector('#ttft button').hidden")).isEqualTo("true");
    assertThat(tab.complaints()).isEmpty();
  }

  /**
   * Charts as reports have them: a logarithmic axis, words, names, marks and places without a
   * value.
   */
  @Test
  void scriptDrawsTheChartsOfReports() throws Exception {
    show(Sample.quiet());
    tab.value(
        draw(
            """
            {x: {label: "within", kind: "LOG_MICROS", min: 800, max: 90000, words: []},
             y: {label: "share", kind: "SHARE", min: 0, max: 1, words: []},
             places: [0, 1000, 90000], names: [],
             series: [{name: "share", colour: "accent", shape: "LINE", values: [0, 0.5, 1]}],
             marks: [{direction: "UPRIGHT", value: 2000, label: "target"}]}
            """));
    assertThat(drawn("scales.x.ticks.map(tick => tick.label).join()"))
        .isEqualTo("1 ms,3 ms,10 ms,30 ms");
    assertThat(drawn("getDatasetMeta(0).data[1].y"))
        .isEqualTo(drawn("scales.y.getPixelForValue(0.5)"));
    tab.value(
        draw(
            """
            {x: {label: "size", kind: "WORDS", min: -0.5, max: 1.5, words: ["small", "large"]},
             y: {label: "cost", kind: "NUMBER", min: 0, max: 0, words: []},
             places: [0, 1], names: ["<b>one</b>", "two"],
             series: [{name: "best", colour: "accent", shape: "DOTS", values: ["NaN", 1234.5]}],
             marks: [{direction: "LEVEL", value: 1000, label: "asked for"}]}
            """));
    assertThat(drawn("scales.x.ticks.map(tick => tick.label).join()")).isEqualTo("small,large");
    assertThat(drawn("getDatasetMeta(0).data.map(point => point.skip).join()"))
        .isEqualTo("true,false");
    assertThat(drawn("scales.y.ticks.map(tick => tick.label).join(' ')")).contains(" 1,000");
    assertThat(tab.complaints()).isEmpty();
  }

  private static String draw(String chart) {
    return """
    (() => {
      const plot = document.createElement("div");
      plot.className = "plot drawn";
      document.querySelectorAll(".drawn").forEach((old) => old.remove());
      document.querySelector("#ttft").append(plot);
      drawChart(plot, %s);
    })()
    """
        .formatted(chart);
  }

  private String drawn(String of) {
    return tab.value("Chart.getChart(document.querySelector('.drawn canvas'))." + of);
  }

  @Test
  void everyReasonIsSaidInPlainWords() throws Exception {
    show(Sample.busy(1_204, Availability.READY));
    tab.value("document.querySelector('#more').click()");
    var text =
        tab.value(
            "[...document.querySelectorAll('.why [data-f=why]')].map(e => e.textContent).join('\\n"
                + "')");
    assertThat(text.lines()).hasSize(DashboardState.DECISIONS_MAX);
    for (var reason : Reason.values()) assertThat(text).doesNotContain(reason.name());
    assertThat(text).doesNotContain("{", "undefined");
    assertThat(tab.complaints()).isEmpty();
  }

  @Test
  void withoutTrafficThePageSaysHowToBegin() throws Exception {
    show(Sample.quiet());
    assertThat(tab.text("#decisions .nothing")).contains("No requests yet", "curl " + server.url());
    assertThat(tab.text("#ttft [data-f=p90]")).isEqualTo("none in the last minute");
    assertThat(tab.value("document.body.innerText"))
        .doesNotContain("NaN", "undefined", "null", "Infinity");
    assertThat(tab.complaints()).isEmpty();
  }

  @Test
  void anInstanceThatIsDownIsSeen() throws Exception {
    show(Sample.busy(1_204, Availability.DOWN));
    assertThat(tab.text("#instances [data-f=count]")).isEqualTo("1 of 2 ready");
    assertThat(tab.text("#instances li[data-is=down] .warn")).startsWith("Does not answer");
  }

  @Test
  void anAnswerIsReadAsItComesAndSaysWhatWasCached() throws Exception {
    show(Sample.quiet());
    enterQuestion(SampleServer.WAIT + ", what is a KV cache?");
    tab.until("document.querySelector('.answer[aria-busy=true]')?.textContent === 'A'");
    server.goOn();
    tab.until("document.querySelector('.answer[aria-busy=false]') !== null");
    assertThat(tab.text(".answer")).isEqualTo(SampleServer.ANSWER);
    assertThat(tab.text(".facts"))
        .contains("0 of 24 prompt tokens cached")
        .contains("on engine-2, its prompt on engine-1")
        .contains("There because engine-1 was idle while engine-2 was busy");
    enterQuestion("And who gains?");
    tab.until("document.querySelectorAll('.answer[aria-busy=false]').length === 2");
    assertThat(tab.text("article:last-child .facts")).contains("48 of 72 prompt tokens cached");
    assertThat(tab.complaints()).isEmpty();
  }

  @Test
  void markupIsShownAsText() throws Exception {
    show(Sample.quiet());
    var markup = "<img src=x onerror=alert(1)> & <b>bold</b>";
    enterQuestion(SampleServer.SAY + markup);
    tab.until("document.querySelector('.answer[aria-busy=false]') !== null");
    assertThat(tab.text(".answer")).isEqualTo(markup);
    assertThat(tab.text(".question")).endsWith(markup);
    assertThat(tab.complaints()).isEmpty();
  }

  private void enterQuestion(String question) {
    tab.value("document.querySelector('#question').focus()");
    tab.type(question);
    tab.press("Enter", 13, CTRL);
  }

  @Test
  void anAnswerCanBeStopped() throws Exception {
    show(Sample.quiet());
    enterQuestion(SampleServer.WAIT);
    tab.until("document.querySelector('.answer')?.textContent === 'A'");
    tab.value("document.querySelector('#stop').click()");
    tab.until("document.querySelector('.facts')?.textContent.includes('stopped')");
    assertThat(tab.value("document.querySelector('#send').hidden")).isEqualTo("false");
  }

  @Test
  void aServerThatIsGoneIsSaidToBeAndComesBack() throws Exception {
    show(Sample.busy(1_204, Availability.READY));
    server.stop();
    tab.until("document.querySelector('#link').dataset.is === 'gone'");
    assertThat(tab.text("#notice")).contains("does not answer", "Trying again");
    server.comeBack();
    tab.until(LIVE);
    assertThat(tab.value("document.querySelector('#notice').hidden")).isEqualTo("true");
  }

  @Test
  void aKeyIsAskedForAndKeptForTheTab() throws Exception {
    server.use(new ApiKeys(List.of(ApiKey.of("ada", "secret-of-ada"))));
    tab.go(server.url());
    tab.until("document.querySelector('#key')?.hidden === false");
    enterKey("wrong");
    tab.until("document.querySelector('#key label').textContent.includes('not accepted')");
    enterKey("secret-of-ada");
    tab.until(LIVE);
    tab.go(server.url() + "/?again");
    tab.until("location.search === '?again' && " + LIVE);
    enterQuestion("What is a KV cache?");
    tab.until("document.querySelector('.answer[aria-busy=false]') !== null");
    assertThat(tab.text(".answer")).isEqualTo(SampleServer.ANSWER);
  }

  private void enterKey(String key) {
    tab.value("document.querySelector('#secret').focus()");
    tab.type(key);
    tab.press("Enter", 13, 0);
  }

  @Test
  void itFitsPhonesAndDesksInLightAndDark() throws Exception {
    for (var scheme : Tab.Scheme.values()) {
      tab.scheme(scheme);
      for (int width : new int[] {320, 390, 820, 1280, 1920}) {
        tab.size(width, 800, 1);
        show(Sample.busy(1_204, Availability.DOWN));
        enterQuestion("y".repeat(300));
        tab.until("document.querySelector('.answer[aria-busy=false]') !== null");
        assertThat(tab.value("document.documentElement.scrollWidth"))
            .as(scheme + " " + width)
            .isEqualTo("" + width);
      }
      assertThat(tab.value(CONTRAST)).as("contrast in " + scheme).isEqualTo("");
    }
    assertThat(tab.complaints()).isEmpty();
  }

  @Test
  void everythingCanBeReachedByKeyboard() throws Exception {
    show(Sample.busy(1_204, Availability.READY));
    var reached = new ArrayList<String>();
    for (int i = 0; i < 12; i++) {
      tab.press("Tab", 9, 0);
      reached.add(tab.value("document.activeElement.id || document.activeElement.tagName"));
    }
    assertThat(reached).contains("talk", "question", "send", "more");
    assertThat(reached.getFirst()).isEqualTo("A");
  }
}
