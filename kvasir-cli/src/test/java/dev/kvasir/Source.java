package dev.kvasir;

import com.sun.source.doctree.DocTree;
import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/** One Java source: its text and what the parser makes of it. */
final class Source {
  /** Strings and characters are matched so that nothing inside them is taken for a comment. */
  private static final Pattern LITERAL_OR_COMMENT =
      Pattern.compile(
          "(?<block>\"\"\"[\\s\\S]*?(?<!\\\\)\"\"\")"
              + "|\"(?:[^\"\\\\\\n]|\\\\.)*+\"|'(?:[^'\\\\\\n]|\\\\.)*+'"
              + "|(?<comment>//[^\\n]*|/\\*[\\s\\S]*?\\*/)");

  private final String name;
  private final String text;
  private final List<String> lines;
  private final CompilationUnitTree unit;
  private final DocTrees trees;

  private Source(String name, String text, CompilationUnitTree unit, DocTrees trees) {
    this.name = name;
    this.text = text;
    this.lines = text.lines().toList();
    this.unit = unit;
    this.trees = trees;
  }

  /** A method, constructor or initializer, and the type that declares it. */
  record Member(ClassTree owner, Tree tree) {}

  /** Some lines of a source, counted from 1. */
  record Passage(int line, String text) {}

  /** Parses the named files below a folder; a file that does not parse is a failure. */
  static List<Source> parse(Path root, List<String> names) {
    if (names.isEmpty()) return List.of();
    var compiler = ToolProvider.getSystemJavaCompiler();
    var problems = new DiagnosticCollector<JavaFileObject>();
    try (var files = compiler.getStandardFileManager(problems, null, null)) {
      var objects = files.getJavaFileObjectsFromPaths(names.stream().map(root::resolve).toList());
      var options = List.of("-proc:none");
      var task = (JavacTask) compiler.getTask(null, files, problems, options, null, objects);
      var sources = new ArrayList<Source>();
      for (var unit : task.parse()) {
        var path = root.relativize(Path.of(unit.getSourceFile().toUri()));
        var text = unit.getSourceFile().getCharContent(true).toString();
        var name = path.toString().replace('\\', '/');
        sources.add(new Source(name, text, unit, DocTrees.instance(task)));
      }
      if (!problems.getDiagnostics().isEmpty()) {
        throw new IllegalStateException(problems.getDiagnostics().toString());
      }
      return sources;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The path from the root of the checkout, with slashes. */
  String name() {
    return name;
  }

  boolean isMain() {
    return name.contains("/src/main/");
  }

  List<String> lines() {
    return lines;
  }

  CompilationUnitTree unit() {
    return unit;
  }

  /** The file and the line where the tree begins. */
  String at(Tree tree) {
    return at(firstLine(tree));
  }

  String at(int line) {
    return name + ":" + line;
  }

  /** Returns how many lines the tree spans, including annotations but not Javadoc. */
  int length(Tree tree) {
    return lineAt(trees.getSourcePositions().getEndPosition(unit, tree)) - firstLine(tree) + 1;
  }

  private int firstLine(Tree tree) {
    return lineAt(trees.getSourcePositions().getStartPosition(unit, tree));
  }

  private int lineAt(long position) {
    return (int) unit.getLineMap().getLineNumber(position);
  }

  /** Every tree of a kind, however deep. */
  <T extends Tree> List<T> all(Class<T> kind) {
    return within(unit, kind);
  }

  /** Every tree of a kind in or below another. */
  static <T extends Tree> List<T> within(Tree root, Class<T> kind) {
    var found = new ArrayList<T>();
    new TreeScanner<Void, Void>() {
      @Override
      public Void scan(@Nullable Tree tree, Void unused) {
        if (kind.isInstance(tree)) found.add(kind.cast(tree));
        return super.scan(tree, null);
      }
    }.scan(root, null);
    return found;
  }

  /** Every method and constructor. */
  List<Member> methods() {
    return members(MethodTree.class);
  }

  /** Every block that runs when a type or an object begins. */
  List<Member> initializers() {
    return members(BlockTree.class);
  }

  private List<Member> members(Class<? extends Tree> kind) {
    return all(ClassTree.class).stream()
        .flatMap(type -> type.getMembers().stream().map(member -> new Member(type, member)))
        .filter(member -> kind.isInstance(member.tree()))
        .toList();
  }

  /** Returns whether one of the modifiers is an annotation of this simple name. */
  static boolean isAnnotated(ModifiersTree modifiers, String annotation) {
    return modifiers.getAnnotations().stream().anyMatch(found -> isNamed(found, annotation));
  }

  static boolean isNamed(AnnotationTree annotation, String name) {
    var found = annotation.getAnnotationType().toString();
    return found.equals(name) || found.endsWith("." + name);
  }

  /** The first sentence of the Javadoc of a top-level type; empty when it has none. */
  String firstSentence(Tree topLevelType) {
    var path = new TreePath(new TreePath(unit), topLevelType);
    var comment = trees.getDocCommentTree(path);
    if (comment == null) return "";
    return comment.getFirstSentence().stream()
        .map(DocTree::toString)
        .collect(Collectors.joining())
        .strip();
  }

  List<Passage> comments() {
    return passages("comment");
  }

  List<Passage> textBlocks() {
    return passages("block");
  }

  private List<Passage> passages(String group) {
    var passages = new ArrayList<Passage>();
    var matcher = LITERAL_OR_COMMENT.matcher(text);
    while (matcher.find()) {
      var found = matcher.group(group);
      if (found != null) passages.add(new Passage(lineAt(matcher.start()), found));
    }
    return passages;
  }
}
