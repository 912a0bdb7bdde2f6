package dev.kvasir.router.view;

import dev.kvasir.kv.name.BlockHash;
import java.util.ArrayList;
import java.util.List;

/**
 * Request as the router knows it before it is placed.
 *
 * @param session whom it belongs to; empty for nobody
 * @param prefix the names of its full blocks, in order
 * @param avoided instances that have been tried already, by id
 */
public record RouteRequest(
    String session,
    int promptTokens,
    List<BlockHash> prefix,
    SloClass sloClass,
    List<Integer> avoided) {
  public RouteRequest {
    if (promptTokens < 0) throw new IllegalArgumentException("prompt of " + promptTokens);
    prefix = List.copyOf(prefix);
    avoided = List.copyOf(avoided);
  }

  public static RouteRequest of(String session, int promptTokens, List<BlockHash> prefix) {
    return new RouteRequest(session, promptTokens, prefix, SloClass.STANDARD, List.of());
  }

  /** The same request, not to be sent to that instance again. */
  public RouteRequest avoiding(int instance) {
    var more = new ArrayList<>(avoided);
    more.add(instance);
    return new RouteRequest(session, promptTokens, prefix, sloClass, more);
  }
}
