package dev.kvasir.text.template;

import dev.kvasir.Nullable;
import dev.kvasir.text.template.Lexer.Kind;
import dev.kvasir.text.template.Lexer.Token;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses expressions: each becomes an {@link Expression} that computes its value in a scope. */
class Expressions {
  /** An expression. */
  @FunctionalInterface
  interface Expression {
    Object of(Scope scope) throws TemplateFailure;
  }

  /** The arguments of a call. */
  record Arguments(List<Expression> plain, Map<String, Expression> named) {
    List<Object> values(Scope scope) throws TemplateFailure {
      var values = new ArrayList<Object>();
      for (var each : plain) values.add(each.of(scope));
      return values;
    }

    Map<String, Object> named(Scope scope) throws TemplateFailure {
      var values = new LinkedHashMap<String, Object>();
      for (var each : named.entrySet()) values.put(each.getKey(), each.getValue().of(scope));
      return values;
    }
  }

  private static final int DEPTH_MAX = 200;
  private static final List<String> COMPARISONS =
      List.of("==", "!=", "<=", ">=", "<", ">", "in", "not in");

  private final List<Token> tokens;
  private int at;
  private int depth;

  Expressions(List<Token> tokens) {
    this.tokens = tokens;
  }

  final Token peek() {
    return tokens.get(at);
  }

  final Token next() {
    return tokens.get(at++);
  }

  final boolean accept(String sign) {
    if (!peek().is(sign)) return false;
    at++;
    return true;
  }

  final boolean acceptName(String name) {
    if (!peek().isName(name)) return false;
    at++;
    return true;
  }

  final void expect(String sign) throws TemplateFailure {
    if (!accept(sign)) throw wrong("expected '" + sign + "'");
  }

  final String name() throws TemplateFailure {
    var token = next();
    if (token.kind() != Kind.NAME) throw wrong("expected a name, found '" + token.text() + "'");
    return token.text();
  }

  /** Returns how many tokens have been read. */
  final int place() {
    return at;
  }

  /** Returns whether a token that was read from there on is the name. */
  final boolean isNamed(String name, int from) {
    return tokens.subList(from, at).stream().anyMatch(token -> token.isName(name));
  }

  final TemplateFailure wrong(String what) {
    return new TemplateFailure("line " + peek().line() + ": " + what);
  }

  /** A whole expression, with a condition behind it or not. */
  final Expression expression() throws TemplateFailure {
    if (++depth > DEPTH_MAX) throw wrong("too deep");
    var value = or();
    while (acceptName("if")) {
      var condition = or();
      var before = value;
      Expression otherwise =
          acceptName("else") ? expression() : _ -> new Values.Undefined("no else");
      value = scope -> (Values.isTrue(condition.of(scope)) ? before : otherwise).of(scope);
    }
    depth--;
    return value;
  }

  /** Several with commas between them are a list. */
  final Expression tuple() throws TemplateFailure {
    var first = expression();
    if (!peek().is(",")) return first;
    var all = new ArrayList<Expression>(List.of(first));
    while (accept(",")) {
      if (peek().kind() == Kind.STATEMENT_END || peek().kind() == Kind.SHOW_END) break;
      all.add(expression());
    }
    return list(all);
  }

  final Expression or() throws TemplateFailure {
    return logical("or", () -> logical("and", this::not));
  }

  /** Operands of a level that binds more tightly. */
  private interface Level {
    Expression read() throws TemplateFailure;
  }

  private Expression logical(String name, Level next) throws TemplateFailure {
    var left = next.read();
    while (acceptName(name)) {
      var before = left;
      var right = next.read();
      left =
          scope -> {
            var value = before.of(scope);
            return Values.isTrue(value) == name.equals("or") ? value : right.of(scope);
          };
    }
    return left;
  }

  private Expression not() throws TemplateFailure {
    if (!acceptName("not")) return comparison();
    var value = not();
    return scope -> !Values.isTrue(value.of(scope));
  }

  private Expression comparison() throws TemplateFailure {
    var first = sum();
    var operators = new ArrayList<String>();
    var operands = new ArrayList<Expression>();
    for (var each = operator(COMPARISONS); each != null; each = operator(COMPARISONS)) {
      operators.add(each);
      operands.add(sum());
    }
    return operators.isEmpty() ? first : scope -> compared(first, operators, operands, scope);
  }

  /** In a chain, each pair is compared: {@code 1 < n < 3}. */
  private static Object compared(
      Expression first, List<String> operators, List<Expression> operands, Scope scope)
      throws TemplateFailure {
    var left = first.of(scope);
    for (int i = 0; i < operators.size(); i++) {
      var right = operands.get(i).of(scope);
      if (!Values.isTrue(Values.calculate(operators.get(i), left, right))) return false;
      left = right;
    }
    return true;
  }

  private Expression sum() throws TemplateFailure {
    return chained(List.of("+", "-"), this::joined);
  }

  private Expression joined() throws TemplateFailure {
    return chained(List.of("~"), () -> chained(List.of("*", "/", "//", "%"), this::power));
  }

  /** Operands with these operators between them, the leftmost first. */
  private Expression chained(List<String> operators, Level next) throws TemplateFailure {
    var left = next.read();
    while (true) {
      var operator = operator(operators);
      if (operator == null) return left;
      var before = left;
      var right = next.read();
      left =
          scope ->
              scope.budget().made(Values.calculate(operator, before.of(scope), right.of(scope)));
    }
  }

  private @Nullable String operator(List<String> operators) {
    for (var each : operators) if (accept(each) || acceptName(each)) return each;
    if (!operators.contains("not in") || !peek().isName("not")) return null;
    if (!tokens.get(at + 1).isName("in")) return null;
    at += 2;
    return "not in";
  }

  private Expression power() throws TemplateFailure {
    return chained(List.of("**"), () -> filtered(signed()));
  }

  /** A sign binds more tightly than powers and filters. */
  private Expression signed() throws TemplateFailure {
    if (accept("+")) return signed();
    if (!accept("-")) return postfix(primary());
    var value = signed();
    return scope -> {
      var number = value.of(scope);
      return number instanceof Double some ? -some : Values.calculate("-", 0L, number);
    };
  }

  private Expression primary() throws TemplateFailure {
    var token = next();
    return switch (token.kind()) {
      case STRING -> string(token.text());
      case NUMBER -> number(token.text());
      case NAME -> named(token.text());
      case SIGN -> enclosed(token);
      default -> throw wrong("an expression is missing");
    };
  }

  private Expression string(String first) {
    var text = new StringBuilder(first);
    while (peek().kind() == Kind.STRING) text.append(next().text());
    var whole = text.toString();
    return _ -> whole;
  }

  private Expression number(String text) throws TemplateFailure {
    try {
      boolean whole = text.indexOf('.') < 0 && text.indexOf('e') < 0;
      Object value = whole ? (Object) Long.parseLong(text) : Double.valueOf(text);
      return _ -> value;
    } catch (NumberFormatException e) {
      throw wrong(text + " is no number");
    }
  }

  private static Expression named(String name) {
    return switch (name) {
      case "true", "True" -> _ -> true;
      case "false", "False" -> _ -> false;
      case "none", "None" -> _ -> Values.None.NONE;
      default -> scope -> scope.get(name);
    };
  }

  private Expression enclosed(Token token) throws TemplateFailure {
    return switch (token.text()) {
      case "(" -> {
        if (accept(")")) yield list(List.of());
        var value = tuple();
        expect(")");
        yield value;
      }
      case "[" -> list(until("]"));
      case "{" -> dictionary();
      default -> throw wrong("'" + token.text() + "' begins no expression");
    };
  }

  private List<Expression> until(String end) throws TemplateFailure {
    var all = new ArrayList<Expression>();
    while (!accept(end)) {
      all.add(expression());
      if (!accept(",") && !peek().is(end)) throw wrong("expected '" + end + "'");
    }
    return all;
  }

  private static Expression list(List<Expression> all) {
    return scope -> {
      var values = new ArrayList<Object>(all.size());
      for (var each : all) values.add(each.of(scope));
      return values;
    };
  }

  private Expression dictionary() throws TemplateFailure {
    var keys = new ArrayList<Expression>();
    var values = new ArrayList<Expression>();
    while (!accept("}")) {
      keys.add(expression());
      expect(":");
      values.add(expression());
      if (!accept(",") && !peek().is("}")) throw wrong("expected '}'");
    }
    return scope -> {
      var map = new LinkedHashMap<Object, Object>();
      for (int i = 0; i < keys.size(); i++) map.put(keys.get(i).of(scope), values.get(i).of(scope));
      return map;
    };
  }

  private Expression postfix(Expression first) throws TemplateFailure {
    var value = first;
    while (true) {
      var of = value;
      if (accept(".")) {
        var name = next().text();
        if (peek().is("(")) {
          next();
          var arguments = arguments();
          value = scope -> Methods.call(of.of(scope), name, arguments, scope);
        } else {
          value = scope -> Values.attribute(of.of(scope), name);
        }
      } else if (accept("[")) {
        value = subscript(of);
      } else if (accept("(")) {
        var arguments = arguments();
        value = scope -> called(of.of(scope), arguments, scope);
      } else {
        return value;
      }
    }
  }

  private Expression subscript(Expression of) throws TemplateFailure {
    var parts = new ArrayList<Expression>();
    Expression part = _ -> Values.None.NONE;
    boolean given = false;
    boolean sliced = false;
    while (!accept("]")) {
      if (accept(":")) {
        sliced = true;
        parts.add(part);
        part = _ -> Values.None.NONE;
        given = false;
      } else if (given) {
        throw wrong("expected ']'");
      } else {
        part = expression();
        given = true;
      }
    }
    parts.add(part);
    if (!sliced) {
      var key = part;
      return scope -> Values.item(of.of(scope), key.of(scope));
    }
    while (parts.size() < 3) parts.add(_ -> Values.None.NONE);
    return scope ->
        Values.slice(
            of.of(scope), parts.get(0).of(scope), parts.get(1).of(scope), parts.get(2).of(scope));
  }

  static Object called(Object what, Arguments arguments, Scope scope) throws TemplateFailure {
    scope.budget().step();
    if (what instanceof Values.Callable callable) {
      return scope.budget().made(callable.call(arguments.values(scope), arguments.named(scope)));
    }
    var name = what instanceof Values.Undefined missing ? missing.name() : Values.shown(what);
    throw new TemplateFailure("'" + name + "' cannot be called");
  }

  /** Reads what stands between parentheses of which the first has been taken. */
  final Arguments arguments() throws TemplateFailure {
    var plain = new ArrayList<Expression>();
    var named = new LinkedHashMap<String, Expression>();
    while (!accept(")")) {
      if (peek().kind() == Kind.NAME && tokens.get(at + 1).is("=")) {
        var name = name();
        next();
        named.put(name, expression());
      } else {
        plain.add(expression());
      }
      if (!accept(",") && !peek().is(")")) throw wrong("expected ')'");
    }
    return new Arguments(plain, named);
  }

  /** Filters and tests behind a value. */
  private Expression filtered(Expression first) throws TemplateFailure {
    var value = first;
    while (true) {
      var of = value;
      if (accept("|")) {
        value = filter(of);
      } else if (acceptName("is")) {
        boolean not = acceptName("not");
        var name = name();
        if (!Filters.isTest(name)) throw wrong("the test '" + name + "' is not supported");
        var arguments = testArguments();
        value = scope -> Filters.test(name, of.of(scope), arguments.values(scope)) != not;
      } else {
        return value;
      }
    }
  }

  /** The filter whose name comes next. */
  final Expression filter(Expression of) throws TemplateFailure {
    var name = name();
    if (!Filters.isFilter(name)) throw wrong("the filter '" + name + "' is not supported");
    var arguments = accept("(") ? arguments() : new Arguments(List.of(), Map.of());
    return postfix(
        scope -> {
          scope.budget().step();
          var value = of.of(scope);
          var filtered =
              Filters.apply(name, value, arguments.values(scope), arguments.named(scope));
          return scope.budget().made(filtered);
        });
  }

  /** A test has its arguments in parentheses, or one behind it. */
  private Arguments testArguments() throws TemplateFailure {
    if (accept("(")) return arguments();
    var kind = peek().kind();
    boolean follows = kind == Kind.STRING || kind == Kind.NUMBER || peek().is("[");
    if (kind == Kind.NAME) {
      follows = !List.of("and", "or", "else", "if", "is", "not", "in").contains(peek().text());
    }
    return new Arguments(follows ? List.of(postfix(primary())) : List.of(), Map.of());
  }
}
