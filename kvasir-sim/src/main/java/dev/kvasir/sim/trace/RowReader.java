package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Request;

/** Reads the requests of one format one by one. */
interface RowReader {
  /** The next request as the trace has it; null at the end. */
  @Nullable
  Request next();

  /** The name of a request that has none of its own. */
  static String id(long index) {
    return "request_" + index;
  }
}
