package dev.kvasir.embedded.api;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The fields of a JSON object, each of the kind it must have; null counts as not given. */
record Fields(JsonNode object) {
  Fields {
    if (!object.isObject())
      throw new Refused(ApiError.badRequest("the body must be a JSON object"));
  }

  @Nullable
  JsonNode node(String name) {
    var node = object.get(name);
    return node == null || node.isNull() ? null : node;
  }

  String text(String name, String absent) {
    var node = node(name);
    if (node == null) return absent;
    if (!node.isString()) throw wrong(name, "a string", node);
    return node.asString();
  }

  boolean flag(String name) {
    var node = node(name);
    if (node == null) return false;
    if (!node.isBoolean()) throw wrong(name, "true or false", node);
    return node.booleanValue();
  }

  int number(String name, int absent, int min, int max) {
    var node = node(name);
    if (node == null) return absent;
    if (!node.isIntegralNumber() || !node.canConvertToInt()) {
      throw wrong(name, "a whole number", node);
    }
    int value = node.intValue();
    if (value < min || value > max) throw wrong(name, min + " to " + max, node);
    return value;
  }

  long longNumber(String name, long absent) {
    var node = node(name);
    if (node == null) return absent;
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw wrong(name, "a whole number", node);
    }
    return node.longValue();
  }

  double decimal(String name, double absent) {
    var node = node(name);
    if (node == null) return absent;
    if (!node.isNumber()) throw wrong(name, "a number", node);
    return node.doubleValue();
  }

  /** One string or several. */
  List<String> texts(String name) {
    var node = node(name);
    if (node == null) return List.of();
    if (node.isString()) return List.of(node.asString());
    if (!node.isArray()) throw wrong(name, "a string or an array of strings", node);
    var texts = new ArrayList<String>();
    for (var each : node) {
      if (!each.isString()) throw wrong(name, "strings", each);
      texts.add(each.asString());
    }
    return texts;
  }

  /** Refuses a request that sets a field to more than nothing. */
  void forbid(String name, String message) {
    var node = node(name);
    if (node == null || (node.isBoolean() && !node.booleanValue())) return;
    if (node.isContainer() && node.isEmpty()) return;
    throw new Refused(ApiError.badField(name, message));
  }

  static Refused wrong(String name, String expected, JsonNode found) {
    var shown = found.toString();
    int most = 60;
    if (shown.length() > most) shown = shown.substring(0, most) + "…";
    return new Refused(ApiError.badField(name, name + " is " + shown + ", expected " + expected));
  }
}
