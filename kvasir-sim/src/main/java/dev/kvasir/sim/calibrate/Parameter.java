package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.latency.ServedShape;
import dev.kvasir.sim.server.ServerTimes;
import java.util.function.ToDoubleFunction;

/**
 * The times that a fit may change, each with what physics or experience says of it beforehand.
 *
 * <p>A prior is a value and how far off it may well be, as a factor: 0.2 stands for 20 %.
 *
 * <ul>
 *   <li>Shares of the peaks: a large matrix product reaches 0.8 of an H200's arithmetic and a copy
 *       0.9 of its memory's rate; the layers around them take the rest. Attention over a prompt
 *       reaches 0.35 (FlashAttention 2) to 0.75 (FlashAttention 3, no pages), so that it has most
 *       room; attention of decode rows of unlike lengths loses some of the copy's rate.
 *   <li>Times of processors are round numbers of the right order, with much room.
 * </ul>
 */
@SuppressWarnings({"EnumOrdinal", "ImmutableEnumChecker"}) // values stand in lists by their order
enum Parameter {
  LAUNCH("launch_us", 0.4, shape -> 800.0 * shape.layers()),
  LAUNCH_ROW("launch_row_us", 0.3, _ -> 20),
  LAUNCH_SPREAD("launch_spread", 0.3, _ -> 0.3),
  GRAPH("graph_us", 0.3, _ -> 3_000),
  GRAPH_ROW("graph_row_us", 0.3, _ -> 10),
  WEIGHTS("weights_us", 0.15, shape -> shape.weightMicros() / 0.62),
  TOKEN("token_us", 0.15, shape -> shape.tokenMicros() / 0.65),
  PAIR("pair_ns", 0.35, shape -> shape.pairNanos() / 0.55),
  CONTEXT("context_ns", 0.2, shape -> shape.contextNanos() / 0.80),
  ROW("row_us", 0.25, _ -> 8),
  PROMPT("prompt_us", 0.4, _ -> 500),
  RECEIVE("receive_us", 0.4, _ -> 3_000),
  RECEIVE_TOKEN("receive_token_ns", 0.3, _ -> 40),
  CALL("call_us", 0.25, _ -> 1_200),
  CALL_TOKEN("call_token_us", 0.5, _ -> 0.5),
  TOKENIZE_TOKEN("tokenize_token_us", 0.5, _ -> 1),
  HOP("hop_us", 0.4, _ -> 3_000),
  DELIVER("deliver_us", 0.3, _ -> 1_000),
  OUTPUT("output_us", 0.3, _ -> 40),
  END("end_us", 0.3, _ -> 100),
  WARM_FRONT("warm_up_front", 0.4, _ -> 0.6),
  WARM_LAUNCH("warm_up_launch", 0.4, _ -> 0.3),
  WARM_REQUESTS("warm_up_requests", 0.3, _ -> 100);

  private final String label;
  private final double spread;
  private final ToDoubleFunction<ServedShape> prior;

  Parameter(String label, double spread, ToDoubleFunction<ServedShape> prior) {
    this.label = label;
    this.spread = spread;
    this.prior = prior;
  }

  /** As a profile writes it. */
  String label() {
    return label;
  }

  /** Returns the index of the parameter among the values of a profile. */
  int index() {
    return ordinal();
  }

  /** The standard deviation beforehand of the logarithm of the one that stands there. */
  static double spread(int index) {
    return values()[index].spread;
  }

  /** Returns the priors of all parameters. */
  static double[] priors(ServedShape shape) {
    var values = new double[values().length];
    for (var each : values()) values[each.ordinal()] = each.prior.applyAsDouble(shape);
    return values;
  }

  private double of(double[] values) {
    return values[ordinal()];
  }

  /** The times that these values stand for. */
  static ServerTimes times(double[] values, int calls) {
    return new ServerTimes(
        new ServerTimes.Engine(
            LAUNCH.of(values),
            LAUNCH_ROW.of(values),
            LAUNCH_SPREAD.of(values),
            GRAPH.of(values),
            GRAPH_ROW.of(values),
            WEIGHTS.of(values),
            TOKEN.of(values),
            PAIR.of(values),
            CONTEXT.of(values),
            ROW.of(values),
            PROMPT.of(values)),
        new ServerTimes.Front(
            calls,
            RECEIVE.of(values),
            RECEIVE_TOKEN.of(values),
            CALL.of(values),
            CALL_TOKEN.of(values),
            TOKENIZE_TOKEN.of(values),
            HOP.of(values),
            DELIVER.of(values),
            OUTPUT.of(values),
            END.of(values)),
        new ServerTimes.WarmUp(
            WARM_FRONT.of(values), WARM_LAUNCH.of(values), WARM_REQUESTS.of(values)));
  }
}
