package dev.kvasir.sim.server;

import java.util.List;

/**
 * Times of one deployment: those of an engine of one model on its GPUs, and of the server in front
 * of it.
 *
 * @param engine what a step takes
 * @param front what a request takes before and after its steps
 * @param warmUp how much longer all of it takes for the first requests
 */
public record ServerTimes(Engine engine, Front front, WarmUp warmUp) {
  /**
   * Times of a step, on the processor that launches it and on the GPU.
   *
   * @param launchMicros to launch a step that computes prompts, kernel by kernel
   * @param launchRowMicros more for each request in it
   * @param launchSpread by how much such launches differ by chance, as a share
   * @param graphMicros to launch a step that only decodes, as one graph
   * @param graphRowMicros more for each request in it
   * @param weightMicros to read all weights
   * @param tokenMicros the arithmetic of a token outside of attention
   * @param pairNanos the arithmetic of a prompt's token looking back on one token
   * @param contextNanos to read the K and V of one token for a decode row
   * @param rowMicros what each decode row takes besides
   * @param promptMicros what a step with prompts takes besides
   */
  public record Engine(
      double launchMicros,
      double launchRowMicros,
      double launchSpread,
      double graphMicros,
      double graphRowMicros,
      double weightMicros,
      double tokenMicros,
      double pairNanos,
      double contextNanos,
      double rowMicros,
      double promptMicros) {
    public Engine {
      check(
          "engine",
          List.of(
              launchMicros,
              launchRowMicros,
              launchSpread,
              graphMicros,
              graphRowMicros,
              weightMicros,
              tokenMicros,
              pairNanos,
              contextNanos,
              rowMicros,
              promptMicros));
    }
  }

  /**
   * Times of a request before and after its steps.
   *
   * @param calls how often the server is called for a request: 2 where a router asks it for the
   *     tokens first
   * @param receiveMicros until the first call stands in line, for all requests side by side
   * @param receiveTokenNanos more for each token of the prompt
   * @param callMicros what a call takes of the event loop
   * @param callTokenMicros more for each token of the prompt
   * @param tokenizeTokenMicros what the tokenizer takes for each token of the longest prompt that
   *     waits for it
   * @param hopMicros between two calls
   * @param deliverMicros from the event loop to the engine
   * @param outputMicros what a token takes of the event loop on its way out
   * @param endMicros what a first or a last token takes of it besides
   */
  public record Front(
      int calls,
      double receiveMicros,
      double receiveTokenNanos,
      double callMicros,
      double callTokenMicros,
      double tokenizeTokenMicros,
      double hopMicros,
      double deliverMicros,
      double outputMicros,
      double endMicros) {
    public Front {
      if (calls < 1 || calls > 9) {
        throw new IllegalArgumentException(calls + " calls of the server for a request");
      }
      check(
          "front",
          List.of(
              receiveMicros,
              receiveTokenNanos,
              callMicros,
              callTokenMicros,
              tokenizeTokenMicros,
              hopMicros,
              deliverMicros,
              outputMicros,
              endMicros));
    }
  }

  /**
   * Extra time for the first requests after a start, when code is not compiled yet and kernels are
   * not loaded. It falls by the same share with each request.
   *
   * @param front how much more of its time the front takes for the first request; 1 is double
   * @param launch the same of launching a step with prompts
   * @param requests after how many requests that has fallen to a third, about
   */
  public record WarmUp(double front, double launch, double requests) {
    public WarmUp {
      check("warm_up", List.of(front, launch));
      if (!(requests > 0 && requests < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException("warm_up over " + requests + " requests");
      }
    }

    private double of(double share, long served) {
      return 1 + share * StrictMath.exp(-served / requests);
    }

    double ofFront(long served) {
      return of(front, served);
    }

    double ofLaunch(long served) {
      return of(launch, served);
    }
  }

  private static void check(String part, List<Double> times) {
    for (double time : times) {
      if (time >= 0 && time < Double.POSITIVE_INFINITY) continue;
      throw new IllegalArgumentException(
          "a time of " + part + " is " + time + "; give a number from 0 up");
    }
  }
}
