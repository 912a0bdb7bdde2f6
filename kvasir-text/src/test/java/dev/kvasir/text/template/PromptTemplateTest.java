package dev.kvasir.text.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Prompts are those that Python's jinja2 made of the same templates and conversations. */
class PromptTemplateTest {
  @Test
  void promptsAreThoseOfTheLibrary() throws Exception {
    try (var in = PromptTemplateTest.class.getResourceAsStream("templates.json.gz")) {
      assertThat(same(Objects.requireNonNull(in))).isGreaterThan(30);
    }
  }

  /** Written by scripts/template-cases.py for the templates of a vLLM. */
  @Test
  @EnabledIfSystemProperty(named = "kvasir.templates", matches = ".+")
  void promptsOfOtherTemplatesAreThoseOfTheLibrary() throws Exception {
    try (var in = Files.newInputStream(Path.of(System.getProperty("kvasir.templates", "")))) {
      assertThat(same(in)).isPositive();
    }
  }

  private static int same(InputStream in) throws IOException, TemplateFailure {
    JsonNode recorded;
    try (var unzipped = new GZIPInputStream(in)) {
      recorded = JsonMapper.shared().readTree(unzipped.readAllBytes());
    }
    int count = 0;
    for (var each : recorded) {
      var template = PromptTemplate.of(each.path("template").asString());
      for (var one : each.path("cases")) {
        var name = each.path("name").asString() + " " + one.path("values");
        var text = one.path("text").isNull() ? null : one.path("text").asString();
        assertThat(rendered(template, one.path("values"))).as("%s", name).isEqualTo(text);
        count++;
      }
    }
    return count;
  }

  private static @Nullable String rendered(PromptTemplate template, JsonNode values) {
    var named = new LinkedHashMap<String, Object>();
    for (var each : values.properties()) {
      named.put(each.getKey(), PromptTemplate.value(each.getValue()));
    }
    try {
      return template.render(named);
    } catch (TemplateFailure e) {
      return null;
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "{% include 'x' %} => line 2: the statement 'include' is not supported",
        "{{ x | frobnicate }} => line 2: the filter 'frobnicate' is not supported",
        "{{ x is frobnicate }} => line 2: the test 'frobnicate' is not supported",
        "{% for a in b %} => line 2: expected endfor",
        "{% if a %}{% endfor %} => line 2: the statement 'endfor' is not supported",
        "{{ a => line 2: a mark without an end",
        "{# a => line 2: a comment without an end",
        "{{ 'open }} => line 2: an open string",
        "{{ a b }} => line 2: more than one expression",
        "{{ [1, 2} }} => line 2: expected ']'",
        "{{ $a }} => line 2: '$' is not understood",
        "{% raw %} => line 2: raw text without an end",
        "{% set x | upper %}{% endset %} => line 2: more than one expression"
      })
  void aTemplateThatIsNotUnderstoodIsRefusedWhenItIsRead(String template, String why) {
    assertThatThrownBy(() -> PromptTemplate.of("{# the first line #}\n" + template))
        .isInstanceOf(TemplateFailure.class)
        .hasMessage(why);
  }

  @ParameterizedTest
  @CsvSource({
    "'not ', ''",
    "-, ''",
    "(, )",
    "[, ]",
    "{1: , }",
    "a[, ]",
    "'a ** ', ''",
    "'1 if 0 else ', ''",
    "'', ' | trim'",
    "f(, )"
  })
  void whatNestsWithoutEndIsRefused(String open, String close) {
    var text = "{{ " + open.repeat(50_000) + "a" + close.repeat(50_000) + " }}";
    assertThatThrownBy(() -> PromptTemplate.of(text).render(Map.of("a", 1L)))
        .isInstanceOf(TemplateFailure.class)
        .hasMessageContaining("too deep");
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "{% for a in m %}{% for b in m %}x{% endfor %}{% endfor %} => does not come to an end",
        "{% for a in m %}{% set x = range(90000) %}{% endfor %} => makes too much text",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }} => the template goes too deep",
        "{{ 'x' * 900000000 }} => a text repeated 900000000 times",
        "{{ 'xxxx' * 4611686018427387904 }} => a text repeated 4611686018427387904 times",
        "{{ 'x' | indent(900000000, true) }} => 'indent' by 900000000",
        "{{ ('x' * 1000000) | replace('x', 'y' * 1000000) }} => becomes too long",
        "{{ m | join('y' * 1000000) }} => 'join' makes too much text",
        "{% set n = namespace(x='xx') %}{% for a in m %}{% set n.x = n.x ~ n.x %}{% endfor %}"
            + " => makes too much text",
        "{% set n = namespace(x=[1, 1]) %}{% for a in m %}{% set n.x = n.x + n.x %}{% endfor %}"
            + " => makes too much text",
        "{% for a in m %}{{ 'y' * 1000000 }}{% endfor %} => becomes too long"
      })
  void timeAndMemoryOfATemplateAreBounded(String text, String why) throws Exception {
    fails(text, why);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "{{ 'abc'[::0] }} => a slice with steps of 0",
        "{{ range(9999999) }} => a range from 0 to 9999999",
        "{{ missing.name }} => 'missing' is undefined",
        "{{ missing() }} => 'missing' cannot be called",
        "{{ missing + 'x' }} => is no number",
        "{{ 1 // 0 }} => by zero",
        "{{ 9223372036854775807 + 1 }} => overflow",
        "{{ 2 ** 70 }} => 2 ** 70",
        "{{ 'a'.frobnicate() }} => the method 'frobnicate' is not supported",
        "{{ 'a'.startswith('a', 1) }} => 'startswith' has 2 arguments, expected at most 1",
        "{{ [1] | sort(by='x') }} => 'sort' with the argument 'by' is not supported",
        "{{ [1] | tojson(true) }} => 'tojson' with ensure_ascii is not supported",
        "{{ [1].append(2) }} => the method 'append' is not supported",
        "{{ {'a': 1}.update(b=2) }} => 'update' with the argument 'b' is not supported",
        "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }} => a macro of [a] is called with 2 arguments",
        "{{ strftime_now('%j') }} => the date %j is not supported",
        "{{ raise_exception('roles must take turns') }} => roles must take turns"
      })
  void aTemplateThatGoesWrongSaysSo(String text, String why) throws Exception {
    fails(text, why);
  }

  private static void fails(String text, String why) throws TemplateFailure {
    var template = PromptTemplate.of(text);
    var many = new ArrayList<Object>(Collections.nCopies(90_000, 1L));
    assertThatThrownBy(() -> template.render(Map.of("m", many)))
        .isInstanceOf(TemplateFailure.class)
        .hasMessageContaining(why);
  }

  @Test
  void datesAreThoseOfTheClock() throws Exception {
    var clock = LocalDateTime.of(2026, 3, 5, 7, 8, 9);
    var text = "{{ strftime_now('%Y-%m-%d %H:%M:%S, %a %A %d %b %B %y, 100%%') }}";
    assertThat(PromptTemplate.of(text, () -> clock).render(Map.of()))
        .isEqualTo("2026-03-05 07:08:09, Thu Thursday 05 Mar March 26, 100%");
  }
}
