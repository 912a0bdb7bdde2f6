package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds what every text file of the project owes its reader, whatever its language. */
class TidyTextTest {
  /** Spares the home that a test makes up; the groups keep the pattern from matching itself. */
  private static final Pattern MACHINE_PATH =
      Pattern.compile(
          "(?<![\\w.~}-])(?:/(?:home|Users)/(?!from-the-account)\\w|/(?:root)/"
              + "|/(?:work)/(?:main|shared)\\b|[A-Z]:\\\\(?:Users)\\\\)");

  private static final Pattern CODE = Pattern.compile("`[^`]*`");
  private static final Pattern LINK =
      Pattern.compile(
          "\\]\\(<?(?<inline>[^)\\s>]+)[^)]*\\)"
              + "|^\\s*\\[[^]]+]:\\s+<?(?<reference>[^\\s>]+)"
              + "|(?:src|href)=\"(?<html>[^\"]+)\"");
  private static final Pattern ELSEWHERE = Pattern.compile("[a-z]+:.*|//.*|#.*");

  private static final Checkout CHECKOUT = Checkout.here();
  private static final List<String> TRACKED = CHECKOUT.tracked();

  @Test
  void filesOfEveryKindWereListed() {
    assertThat(TRACKED).contains("pom.xml", "LICENSE", "tools/find-jdk", ".mvn/maven.config");
  }

  @Test
  void filesNameNoPathOfOneMachine() {
    var leaks = new ArrayList<String>();
    for (var name : TRACKED) {
      var lines = CHECKOUT.text(name).orElse("").lines().toList();
      for (int line = 1; line <= lines.size(); line++) {
        var matcher = MACHINE_PATH.matcher(lines.get(line - 1));
        if (matcher.find()) leaks.add(name + ":" + line + " " + matcher.group());
      }
    }
    assertThat(leaks).isEmpty();
  }

  @Test
  void linksLeadToFiles() {
    var broken = new ArrayList<String>();
    for (var name : TRACKED) {
      if (name.endsWith(".md")) broken.addAll(brokenLinks(name));
    }
    assertThat(broken).isEmpty();
  }

  private static List<String> brokenLinks(String name) {
    var broken = new ArrayList<String>();
    var lines = CHECKOUT.text(name).orElse("").lines().toList();
    boolean fenced = false;
    for (int line = 1; line <= lines.size(); line++) {
      var text = lines.get(line - 1);
      if (text.strip().startsWith("```")) fenced = !fenced;
      if (fenced) continue;
      for (var target : targets(CODE.matcher(text).replaceAll(""))) {
        if (!leadsSomewhere(name, target)) broken.add(name + ":" + line + " " + target);
      }
    }
    return broken;
  }

  private static List<String> targets(String line) {
    var targets = new ArrayList<String>();
    var matcher = LINK.matcher(line);
    while (matcher.find()) {
      for (var group : List.of("inline", "reference", "html")) {
        var target = matcher.group(group);
        if (target != null) targets.add(target);
      }
    }
    return targets;
  }

  private static boolean leadsSomewhere(String from, String target) {
    if (ELSEWHERE.matcher(target).matches()) return true;
    var path = URLDecoder.decode(target.replaceAll("[#?].*", ""), StandardCharsets.UTF_8);
    var root = CHECKOUT.root();
    var file =
        path.startsWith("/")
            ? root.resolve(path.substring(1))
            : root.resolve(from).resolveSibling(path);
    return file.normalize().startsWith(root) && Files.exists(file.normalize());
  }
}
