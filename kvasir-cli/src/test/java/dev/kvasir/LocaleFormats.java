package dev.kvasir;

import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the formats whose result depends on the locale of the machine, or its line separator. */
final class LocaleFormats {
  /** Fractions, groups of digits, dates and line ends; a bare %d is spared. */
  private static final Pattern LOCAL =
      Pattern.compile("%[^a-zA-Z%]*(?:[eEfgGaAtTn]|,[^a-zA-Z%]*d)");

  private LocaleFormats() {}

  /** Returns their places in the source. */
  static List<String> in(Source source) {
    return source.all(MethodInvocationTree.class).stream()
        .flatMap(call -> template(call).stream())
        .filter(LocaleFormats::isLocal)
        .map(template -> source.at(template) + " is formatted by the locale of the machine")
        .toList();
  }

  private static Optional<ExpressionTree> template(MethodInvocationTree call) {
    if (!(call.getMethodSelect() instanceof MemberSelectTree method)) return Optional.empty();
    var name = method.getIdentifier().toString();
    if (name.equals("formatted")) return Optional.of(method.getExpression());
    if (!name.equals("format") || !method.getExpression().toString().equals("String")) {
      return Optional.empty();
    }
    return Stream.<ExpressionTree>of(call.getArguments().getFirst())
        .filter(argument -> !argument.toString().startsWith("Locale."))
        .findFirst();
  }

  /** A template that is no literal might hold anything. */
  private static boolean isLocal(ExpressionTree template) {
    var texts =
        Source.within(template, LiteralTree.class).stream()
            .map(literal -> String.valueOf(literal.getValue()))
            .toList();
    return texts.isEmpty() || LOCAL.matcher(String.join("", texts)).find();
  }
}
