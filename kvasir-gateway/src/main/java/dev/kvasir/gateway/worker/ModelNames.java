package dev.kvasir.gateway.worker;

import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Rules for what the names of blocks say of the model that a request names.
 *
 * <p>A worker has one model of its own, under one name or several, and perhaps adapters of it. Its
 * KV events name adapters and not the model. So the worker's own model is left out of the names of
 * blocks, whatever requests call it, and an adapter is part of them. Two models never match, since
 * the router compares a request only with workers that serve the model it names.
 *
 * <p>A name is kept in full where that would not hold: where a worker lists several models of its
 * own, where the name is an adapter for one worker, or where no worker lists it.
 */
public final class ModelNames {
  static final ModelNames NONE = new ModelNames(Set.of());

  private final Set<String> own;

  private ModelNames(Set<String> own) {
    this.own = Set.copyOf(own);
  }

  /**
   * From what each worker lists.
   *
   * @param workers for each worker its models by id, each as the worker describes it
   */
  public static ModelNames of(Collection<Map<String, String>> workers) {
    var own = new HashSet<String>();
    var others = new HashSet<String>();
    for (var models : workers) {
      var base = new HashSet<String>();
      var roots = new HashSet<String>();
      models.forEach(
          (id, json) -> {
            var model = read(json);
            if (!model.path("parent").asString("").isEmpty()) {
              others.add(id);
            } else {
              base.add(id);
              var root = model.path("root").asString("");
              roots.add(root.isEmpty() ? id : root);
            }
          });
      (roots.size() == 1 ? own : others).addAll(base);
    }
    own.removeAll(others);
    return new ModelNames(own);
  }

  /** Empty for a worker's own model, and where the request names none; else the name. */
  public String of(String model) {
    return own.contains(model) ? "" : model;
  }

  /** The least context that one of the models has; 0 where none tells it. */
  static int contextTokens(Collection<String> models) {
    int least = 0;
    for (var json : models) {
      int tokens = read(json).path("max_model_len").asInt(0);
      if (tokens > 0 && (least == 0 || tokens < least)) least = tokens;
    }
    return least;
  }

  /**
   * From what a worker made the model, as its folder or repository; empty where it does not tell.
   *
   * <p>Only the last part is compared: the same model may lie elsewhere on another machine.
   */
  static String root(String model) {
    var root = read(model).path("root").asString("");
    return root.substring(root.lastIndexOf('/') + 1);
  }

  private static JsonNode read(String json) {
    try {
      return Json.read(json.getBytes(StandardCharsets.UTF_8));
    } catch (Refused e) {
      return Json.object();
    }
  }
}
