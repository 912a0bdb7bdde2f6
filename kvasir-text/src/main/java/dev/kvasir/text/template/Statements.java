package dev.kvasir.text.template;

import dev.kvasir.Nullable;
import dev.kvasir.text.template.Lexer.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses the statements of a template: each becomes a {@link Part} that can be run. */
final class Statements extends Expressions {
  /** A part of a template. */
  @FunctionalInterface
  interface Part {
    Flow run(Scope scope, StringBuilder out) throws TemplateFailure;
  }

  /** Way in which rendering continues after a part. */
  enum Flow {
    NEXT,
    BREAK,
    CONTINUE
  }

  private record Branch(Expression condition, Part body) {}

  private record Parameter(String name, @Nullable Expression otherwise) {}

  private static final int DEPTH_MAX = 64;

  /** Name by which the body of a loop asks how far the loop has come. */
  private static final String LOOP = "loop";

  private int depth;

  Statements(List<Lexer.Token> tokens) {
    super(tokens);
  }

  /** The whole template. */
  Part all() throws TemplateFailure {
    var body = body(List.of());
    if (peek().kind() != Kind.END) throw wrong("'" + peek().text() + "' has no beginning");
    return body;
  }

  /** The parts up to a statement of one of these names, which is left. */
  private Part body(List<String> ends) throws TemplateFailure {
    if (++depth > DEPTH_MAX) throw wrong("too deep");
    var parts = new ArrayList<Part>();
    while (peek().kind() != Kind.END) {
      var token = next();
      if (token.kind() == Kind.TEXT) {
        var text = token.text();
        parts.add(shown(_ -> text));
      } else if (token.kind() == Kind.SHOW) {
        parts.add(shown(tuple()));
        end(Kind.SHOW_END);
      } else {
        if (peek().kind() == Kind.NAME && ends.contains(peek().text())) break;
        parts.add(statement(name()));
      }
    }
    if (!ends.isEmpty() && peek().kind() == Kind.END) throw wrong("expected " + ends.getLast());
    depth--;
    return together(parts);
  }

  private static Part together(List<Part> parts) {
    return (scope, out) -> {
      for (var part : parts) {
        var flow = part.run(scope, out);
        if (flow != Flow.NEXT) return flow;
      }
      return Flow.NEXT;
    };
  }

  private static Part shown(Expression value) {
    return (scope, out) -> {
      scope.budget().step();
      out.append(Values.text(value.of(scope)));
      Scope.Budget.room(out);
      return Flow.NEXT;
    };
  }

  private void end(Kind kind) throws TemplateFailure {
    if (next().kind() != kind) throw wrong("more than one expression");
  }

  private void endStatement(String name) throws TemplateFailure {
    if (!acceptName(name)) throw wrong("expected " + name);
    if (peek().kind() == Kind.NAME) next();
    end(Kind.STATEMENT_END);
  }

  private Part statement(String name) throws TemplateFailure {
    return switch (name) {
      case "if" -> condition();
      case "for" -> loop();
      case "set" -> assignment();
      case "macro" -> macro();
      case "break", "continue" -> {
        end(Kind.STATEMENT_END);
        var flow = name.equals("break") ? Flow.BREAK : Flow.CONTINUE;
        yield (_, _) -> flow;
      }
      case "generation" -> {
        end(Kind.STATEMENT_END);
        var body = body(List.of("endgeneration"));
        endStatement("endgeneration");
        yield body;
      }
      case "filter" -> filterBlock();
      default -> throw wrong("the statement '" + name + "' is not supported");
    };
  }

  private Part filterBlock() throws TemplateFailure {
    var holder =
        new Object() {
          @Nullable Part body;
        };
    var filtered = filter(scope -> captured(holder.body, scope));
    end(Kind.STATEMENT_END);
    holder.body = body(List.of("endfilter"));
    endStatement("endfilter");
    return shown(filtered);
  }

  private static String captured(@Nullable Part body, Scope scope) throws TemplateFailure {
    var out = new StringBuilder();
    if (body != null) body.run(scope, out);
    return out.toString();
  }

  private Part condition() throws TemplateFailure {
    var branches = new ArrayList<Branch>();
    Part otherwise = (_, _) -> Flow.NEXT;
    var test = tuple();
    end(Kind.STATEMENT_END);
    while (true) {
      branches.add(new Branch(test, body(List.of("elif", "else", "endif"))));
      if (acceptName("elif")) {
        test = tuple();
        end(Kind.STATEMENT_END);
        continue;
      }
      if (acceptName("else")) {
        end(Kind.STATEMENT_END);
        otherwise = body(List.of("endif"));
      }
      endStatement("endif");
      break;
    }
    var last = otherwise;
    return (scope, out) -> {
      scope.budget().step();
      for (var branch : branches) {
        if (Values.isTrue(branch.condition.of(scope))) return branch.body.run(scope, out);
      }
      return last.run(scope, out);
    };
  }

  private Part loop() throws TemplateFailure {
    var names = targets();
    if (!acceptName("in")) throw wrong("expected in");
    var over = or();
    var filter = acceptName("if") ? expression() : null;
    if (acceptName("recursive")) throw wrong("recursive loops are not supported");
    end(Kind.STATEMENT_END);
    int begin = place();
    var body = body(List.of("else", "endfor"));
    boolean namesLoop = isNamed(LOOP, begin);
    Part otherwise = (_, _) -> Flow.NEXT;
    if (acceptName("else")) {
      end(Kind.STATEMENT_END);
      otherwise = body(List.of("endfor"));
    }
    endStatement("endfor");
    var last = otherwise;
    return (scope, out) -> {
      var items = items(scope, Values.list(over.of(scope)), names, filter);
      if (items.isEmpty()) return last.run(scope, out);
      for (int i = 0; i < items.size(); i++) {
        scope.budget().step();
        var inner = scope.inner();
        assign(inner, names, items.get(i));
        if (namesLoop) inner.set(LOOP, round(items, i));
        if (body.run(inner, out) == Flow.BREAK) break;
      }
      return Flow.NEXT;
    };
  }

  /** Those that the filter lets pass, as they are now: the body may change the list. */
  private static List<Object> items(
      Scope scope, List<Object> all, List<String> names, @Nullable Expression filter)
      throws TemplateFailure {
    if (filter == null && names.size() == 1) return new ArrayList<>(all);
    var items = new ArrayList<Object>();
    for (var item : all) {
      var inner = scope.inner();
      assign(inner, names, item);
      if (filter == null || Values.isTrue(filter.of(inner))) items.add(item);
    }
    return items;
  }

  private static Map<String, Object> round(List<Object> items, int index) {
    var loop = new LinkedHashMap<String, Object>();
    int size = items.size();
    loop.put("index", index + 1L);
    loop.put("index0", (long) index);
    loop.put("revindex", (long) size - index);
    loop.put("revindex0", size - index - 1L);
    loop.put("first", index == 0);
    loop.put("last", index == size - 1);
    loop.put("length", (long) size);
    if (index > 0) loop.put("previtem", items.get(index - 1));
    if (index + 1 < size) loop.put("nextitem", items.get(index + 1));
    Values.Callable cycle = (plain, _) -> plain.get(index % plain.size());
    loop.put("cycle", cycle);
    return loop;
  }

  private List<String> targets() throws TemplateFailure {
    boolean open = accept("(");
    var names = new ArrayList<>(List.of(name()));
    while (accept(",")) names.add(name());
    if (open) expect(")");
    return names;
  }

  private static void assign(Scope scope, List<String> names, Object value) throws TemplateFailure {
    if (names.size() == 1) {
      scope.set(names.getFirst(), value);
      return;
    }
    var parts = Values.list(value);
    if (parts.size() != names.size()) {
      throw new TemplateFailure(parts.size() + " values for " + names.size() + " names");
    }
    for (int i = 0; i < names.size(); i++) scope.set(names.get(i), parts.get(i));
  }

  private Part assignment() throws TemplateFailure {
    var names = targets();
    if (accept(".")) {
      var of = names.getFirst();
      var name = name();
      expect("=");
      var value = tuple();
      end(Kind.STATEMENT_END);
      return (scope, _) -> {
        if (!(scope.get(of) instanceof Values.Namespace space)) {
          throw new TemplateFailure("'" + of + "' is no namespace");
        }
        space.values.put(name, value.of(scope));
        return Flow.NEXT;
      };
    }
    if (accept("=")) {
      var value = tuple();
      end(Kind.STATEMENT_END);
      return (scope, _) -> {
        scope.budget().step();
        assign(scope, names, value.of(scope));
        return Flow.NEXT;
      };
    }
    end(Kind.STATEMENT_END);
    var body = body(List.of("endset"));
    endStatement("endset");
    return (scope, _) -> {
      assign(scope, names, captured(body, scope.inner()));
      return Flow.NEXT;
    };
  }

  private Part macro() throws TemplateFailure {
    var name = name();
    expect("(");
    var parameters = new ArrayList<Parameter>();
    while (!accept(")")) {
      var parameter = name();
      parameters.add(new Parameter(parameter, accept("=") ? expression() : null));
      if (!accept(",") && !peek().is(")")) throw wrong("expected ')'");
    }
    end(Kind.STATEMENT_END);
    var body = body(List.of("endmacro"));
    endStatement("endmacro");
    return (scope, _) -> {
      Values.Callable callable = (plain, named) -> call(scope, parameters, body, plain, named);
      scope.set(name, callable);
      return Flow.NEXT;
    };
  }

  private static Object call(
      Scope around,
      List<Parameter> parameters,
      Part body,
      List<Object> plain,
      Map<String, Object> named)
      throws TemplateFailure {
    var scope = around.inner();
    var names = parameters.stream().map(Parameter::name).toList();
    if (plain.size() > names.size() || !names.containsAll(named.keySet())) {
      throw new TemplateFailure(
          "a macro of %s is called with %d arguments and %s"
              .formatted(names, plain.size(), named.keySet()));
    }
    for (int i = 0; i < parameters.size(); i++) {
      var parameter = parameters.get(i);
      Object value = i < plain.size() ? plain.get(i) : named.get(parameter.name);
      if (value == null && parameter.otherwise != null) value = parameter.otherwise.of(scope);
      scope.set(parameter.name, value == null ? new Values.Undefined(parameter.name) : value);
    }
    return captured(body, scope);
  }
}
