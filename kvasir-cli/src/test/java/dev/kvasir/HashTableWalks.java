package dev.kvasir;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Finds where a hash table that is declared as a mere Map or Set is walked, or handed out to be.
 *
 * <p>A walk over one that is declared as what it is shows in the class file.
 */
final class HashTableWalks {
  private static final Pattern WALK =
      Pattern.compile(
          "keySet|values|entrySet|forEach|iterator|spliterator|stream|toArray|toString");

  private final Source source;
  private final TreeSet<String> tables = new TreeSet<>();
  private final List<String> found = new ArrayList<>();

  private HashTableWalks(Source source) {
    this.source = source;
  }

  /** Returns their places in the source. */
  static List<String> in(Source source) {
    var walks = new HashTableWalks(source);
    walks.nameTables();
    walks.findWalks();
    return walks.found;
  }

  private void nameTables() {
    for (var variable : source.all(VariableTree.class)) {
      if (isTable(variable.getInitializer())) tables.add(variable.getName().toString());
    }
    for (var assignment : source.all(AssignmentTree.class)) {
      if (isTable(assignment.getExpression())) tables.add(lastName(assignment.getVariable()));
    }
    source.all(VariableTree.class).stream()
        .filter(HashTableWalks::isDeclaredAsTable)
        .forEach(variable -> tables.remove(variable.getName().toString()));
  }

  private static boolean isDeclaredAsTable(VariableTree variable) {
    if (variable.getType() == null) return isTable(variable.getInitializer());
    return simpleName(variable.getType()).startsWith("Hash");
  }

  private void findWalks() {
    for (var call : source.all(MemberSelectTree.class)) {
      report(call.getExpression(), call.getIdentifier().toString());
    }
    for (var call : source.all(MemberReferenceTree.class)) {
      report(call.getQualifierExpression(), call.getName().toString());
    }
    for (var loop : source.all(EnhancedForLoopTree.class)) report(loop.getExpression(), "iterator");
    for (var statement : source.all(ReturnTree.class)) {
      var value = statement.getExpression();
      if (value != null && (isTable(value) || tables.contains(lastName(value)))) {
        found.add(source.at(value) + " hands out a hash table");
      }
    }
  }

  private void report(ExpressionTree walked, String method) {
    if (WALK.matcher(method).matches() && tables.contains(lastName(walked))) {
      found.add(source.at(walked) + " walks the hash table " + lastName(walked));
    }
  }

  private static boolean isTable(@Nullable ExpressionTree value) {
    return value instanceof NewClassTree made
        && simpleName(made.getIdentifier()).matches("HashMap|HashSet");
  }

  private static String simpleName(@Nullable Tree type) {
    if (type == null) return "";
    var raw = type.toString().replaceAll("<.*|@\\w+ ", "");
    return raw.substring(raw.lastIndexOf('.') + 1).strip();
  }

  private static String lastName(ExpressionTree variable) {
    return switch (variable) {
      case IdentifierTree name -> name.getName().toString();
      case MemberSelectTree field -> field.getIdentifier().toString();
      case ParenthesizedTree inner -> lastName(inner.getExpression());
      default -> "";
    };
  }
}
