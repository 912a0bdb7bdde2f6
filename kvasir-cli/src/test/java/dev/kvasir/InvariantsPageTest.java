package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds docs/invariants.md against the tests and types that it cites. */
class InvariantsPageTest {
  private static final String PAGE = "docs/invariants.md";
  private static final Pattern CITED =
      Pattern.compile("`(?<type>[A-Z]\\w*[a-z]\\w*)(?:\\.(?<test>\\w+))?`");
  private static final Checkout CHECKOUT = Checkout.here();

  /** The text of each type, by its name. */
  private final TreeMap<String, String> types = new TreeMap<>();

  @Test
  void everyTestAndTypeThatThePageCitesIsThere() {
    for (var file : CHECKOUT.tracked()) {
      if (!file.matches("kvasir-[^/]+/src/.*\\.java")) continue;
      var type = file.substring(file.lastIndexOf('/') + 1, file.length() - ".java".length());
      types.merge(type, CHECKOUT.text(file).orElseThrow(), String::concat);
    }
    var cited = CITED.matcher(CHECKOUT.text(PAGE).orElseThrow());
    var missing = new TreeSet<String>();
    var tests = new ArrayList<String>();
    while (cited.find()) {
      var test = cited.group("test");
      if (test != null) tests.add(test);
      var text = types.get(cited.group("type"));
      if (text == null || (test != null && !isTest(text, test))) missing.add(cited.group());
    }
    assertThat(missing).as("cited by %s", PAGE).isEmpty();
    assertThat(tests).hasSizeGreaterThan(90);
  }

  @Test
  void aMethodThatIsNoTestIsNotTakenForOne() {
    for (var text :
        List.of("void holds() {}", "@Test\n  void holdsMore() {}", "@Test\n  // void holds()")) {
      assertThat(isTest(text, "holds")).as(text).isFalse();
    }
    assertThat(isTest("@ParameterizedTest\n  @ValueSource(ints = 1)\n  void holds(int i)", "holds"))
        .isTrue();
  }

  /** Annotations of one kind, others between them and the method. */
  private static boolean isTest(String text, String name) {
    return Pattern.compile(
            "@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|ArchTest)\\b"
                + "(?:\\s*\\([^)]*\\))?(?:\\s+@[^\\n]*)*\\s+"
                + "(?:(?:public|default|static|final)\\s+)*[\\w.<>]+\\s+"
                + name
                + "\\b")
        .matcher(text)
        .find();
  }
}
