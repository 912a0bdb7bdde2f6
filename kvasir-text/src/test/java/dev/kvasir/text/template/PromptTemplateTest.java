package dev.kvasir.text.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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
  @ValueSource(
      strings = {
        "{% include 'x' %}",
        "{{ x | frobnicate }}",
        "{% for a in b %}",
        "{{ a",
        "{% if a %}{% endfor %}",
        "{{ 'open }}",
        "{{ a b }}"
      })
  void aTemplateThatIsNotUnderstoodIsRefusedWhenItIsRead(String template) {
    assertThatThrownBy(() -> PromptTemplate.of(template)).isInstanceOf(TemplateFailure.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ 'x' * 900000000 }}",
        "{{ missing.name }}",
        "{{ 1 // 0 }}",
        "{{ 'a'.frobnicate() }}"
      })
  void aTemplateThatGoesWrongSaysSo(String text) throws Exception {
    var template = PromptTemplate.of(text);
    assertThatThrownBy(() -> template.render(Map.of())).isInstanceOf(TemplateFailure.class);
  }
}
