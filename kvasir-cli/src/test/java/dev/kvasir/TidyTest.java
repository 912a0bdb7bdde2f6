package dev.kvasir;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import dev.kvasir.Source.Member;
import dev.kvasir.Source.Passage;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/** Holds docs/style.md wherever a reader of the sources can see it. */
class TidyTest {
  private static final int FILE_LINES_MAX = 700;
  private static final int METHOD_LINES_MAX = 40;
  private static final int COLUMNS_MAX = 100;

  /** Files whose name stands twice still. */
  private static final Set<String> NAMES_TWICE = Set.of("Values.java");

  private static final Pattern EMPTY_WORD =
      Pattern.compile("(Manager|Util|Helper|Impl|Base|Data|Info|Context|Abstract|Processor)s?");
  private static final Pattern CAMEL_HUMP =
      Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_");
  private static final Pattern HISTORY = Pattern.compile("#\\d+|\\b(TODO|FIXME|XXX|HACK)\\b");
  private static final Pattern NOUN_CLAUSE =
      Pattern.compile(
          "/\\*\\*[\\s*]*(What|How|Whether|Where|Who|Which|Why|Whoever|Whatever|Whose)\\b.*");
  private static final Pattern LONG_BY_NATURE = Pattern.compile("import .*|package .*|.*://.*");

  private static final List<Source> SOURCES = Checkout.here().sources();

  @Test
  void sourcesOfEveryModuleWereRead() {
    var modules = SOURCES.stream().map(source -> source.name().replaceAll("/.*", "")).distinct();
    assertThat(modules)
        .contains("kvasir-core", "kvasir-text", "kvasir-model", "kvasir-sim", "kvasir-net")
        .contains("kvasir-cli", "kvasir-bench");
  }

  @Test
  void filesAreShort() {
    none(
        source -> {
          int lines = source.lines().size();
          if (lines <= FILE_LINES_MAX) return Stream.empty();
          return Stream.of(source.at(FILE_LINES_MAX + 1) + " the file has " + lines + " lines");
        });
  }

  @Test
  void methodsAreShort() {
    none(
        source ->
            Stream.concat(source.methods().stream(), source.initializers().stream())
                .map(Member::tree)
                .filter(tree -> source.length(tree) > METHOD_LINES_MAX)
                .map(tree -> source.at(tree) + " has " + source.length(tree) + " lines"));
  }

  @Test
  void linesAreShort() {
    none(
        source -> {
          var lines = source.lines();
          var textBlocks = source.textBlocks();
          return IntStream.rangeClosed(1, lines.size())
              .filter(line -> isTooLong(lines.get(line - 1)))
              .filter(line -> textBlocks.stream().noneMatch(block -> spans(block, line)))
              .mapToObj(line -> source.at(line) + " is over " + COLUMNS_MAX + " columns");
        });
  }

  private static boolean isTooLong(String line) {
    return line.codePointCount(0, line.length()) > COLUMNS_MAX
        && !LONG_BY_NATURE.matcher(line).matches();
  }

  private static boolean spans(Passage passage, int line) {
    return passage.line() <= line && line < passage.line() + passage.text().lines().count();
  }

  @Test
  void typeNamesSaySomething() {
    none(
        source ->
            source.all(ClassTree.class).stream()
                .filter(type -> isEmptyName(type.getSimpleName().toString()))
                .map(type -> source.at(type) + " is named " + type.getSimpleName()));
  }

  private static boolean isEmptyName(String name) {
    return CAMEL_HUMP.splitAsStream(name).anyMatch(EMPTY_WORD.asMatchPredicate());
  }

  @Test
  void simpleNamesOfTypesStandOnce() {
    var names =
        SOURCES.stream()
            .filter(Source::isMain)
            .map(source -> source.name().replaceFirst(".*/", ""))
            .filter(name -> !name.endsWith("-info.java"))
            .collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
    names.values().removeIf(count -> count == 1);
    assertThat(names.keySet()).isEqualTo(NAMES_TWICE);
  }

  @Test
  void methodsTakeNoBooleans() {
    noneInMain(
        source ->
            source.methods().stream()
                .filter(not(TidyTest::isOverride).and(not(TidyTest::isCanonicalConstructor)))
                .map(member -> (MethodTree) member.tree())
                .flatMap(method -> method.getParameters().stream())
                .filter(parameter -> parameter.getType().toString().matches("boolean|Boolean"))
                .map(parameter -> source.at(parameter) + " boolean " + parameter.getName()));
  }

  private static boolean isOverride(Member member) {
    return Source.isAnnotated(((MethodTree) member.tree()).getModifiers(), "Override");
  }

  /** Returns whether the member is the constructor of a record that takes all its components. */
  private static boolean isCanonicalConstructor(Member member) {
    var method = (MethodTree) member.tree();
    if (member.owner().getKind() != Tree.Kind.RECORD) return false;
    if (!method.getName().contentEquals("<init>")) return false;
    var components =
        member.owner().getMembers().stream()
            .filter(VariableTree.class::isInstance)
            .map(VariableTree.class::cast)
            .filter(field -> !field.getModifiers().getFlags().contains(Modifier.STATIC))
            .map(field -> field.getType().toString());
    var parameters = method.getParameters().stream().map(field -> field.getType().toString());
    return components.toList().equals(parameters.toList());
  }

  @Test
  void accessorsAreBare() {
    noneInMain(
        source ->
            source.methods().stream()
                .filter(not(TidyTest::isOverride))
                .map(member -> (MethodTree) member.tree())
                .filter(method -> method.getParameters().isEmpty())
                .filter(method -> method.getName().toString().matches("get[A-Z].*"))
                .map(method -> source.at(method) + " is named " + method.getName() + "()"));
  }

  @Test
  void everyTypeSaysWhatItIs() {
    noneInMain(
        source ->
            source.unit().getTypeDecls().stream()
                .filter(ClassTree.class::isInstance)
                .filter(type -> !source.firstSentence(type).endsWith("."))
                .map(type -> source.at(type) + " has no Javadoc that begins with a sentence."));
  }

  @Test
  void javadocBeginsWithAVerbOrANoun() {
    none(
        source ->
            source.comments().stream()
                .filter(comment -> NOUN_CLAUSE.matcher(comment.text()).lookingAt())
                .map(comment -> source.at(comment.line()) + " " + comment.text()));
  }

  @Test
  void commentsHoldNoHistory() {
    none(source -> source.comments().stream().flatMap(comment -> history(source, comment)));
  }

  private static Stream<String> history(Source source, Passage comment) {
    var lines = comment.text().lines().toList();
    return IntStream.range(0, lines.size())
        .filter(index -> HISTORY.matcher(lines.get(index)).find())
        .mapToObj(index -> source.at(comment.line() + index) + " " + lines.get(index).strip());
  }

  @Test
  void importsNameWhatTheyBring() {
    none(
        source ->
            source.unit().getImports().stream()
                .filter(line -> line.getQualifiedIdentifier().toString().endsWith(".*"))
                .map(line -> source.at(line) + " " + line.toString().strip()));
  }

  @Test
  void disabledTestsSayWhy() {
    none(
        source ->
            source.all(AnnotationTree.class).stream()
                .filter(annotation -> Source.isNamed(annotation, "Disabled"))
                .filter(not(TidyTest::hasText))
                .map(annotation -> source.at(annotation) + " " + annotation));
  }

  private static boolean hasText(AnnotationTree annotation) {
    return Source.within(annotation, LiteralTree.class).stream()
        .anyMatch(literal -> !String.valueOf(literal.getValue()).isBlank());
  }

  @Test
  void testsAreNamedAsSentences() {
    none(
        source ->
            source.methods().stream()
                .map(member -> (MethodTree) member.tree())
                .filter(TidyTest::isTest)
                .filter(method -> method.getName().toString().matches("(test|should)([^a-z].*)?"))
                .map(method -> source.at(method) + " is named " + method.getName() + "()"));
  }

  private static boolean isTest(MethodTree method) {
    return Stream.of("Test", "ParameterizedTest", "RepeatedTest", "TestFactory")
        .anyMatch(annotation -> Source.isAnnotated(method.getModifiers(), annotation));
  }

  private static void none(Function<Source, Stream<String>> findings) {
    none(source -> true, findings);
  }

  private static void noneInMain(Function<Source, Stream<String>> findings) {
    none(Source::isMain, findings);
  }

  private static void none(Predicate<Source> where, Function<Source, Stream<String>> findings) {
    assertThat(SOURCES.stream().filter(where).flatMap(findings).toList()).isEmpty();
  }
}
