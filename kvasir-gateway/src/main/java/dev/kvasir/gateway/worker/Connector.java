package dev.kvasir.gateway.worker;

import java.util.Locale;

/**
 * Way in which a worker hands the K and V of a prompt to another one, and who must be told what.
 */
public enum Connector {
  /** It does not: whoever decodes prefills. */
  NONE,
  /** vLLM's NIXL: the prefill answers with what the decode is to be told, one after the other. */
  NIXL,
  /** vLLM's Mooncake: both are told the same transfer, and are sent at the same time. */
  MOONCAKE,
  /** SGLang: both are told the same room, and are sent at the same time. */
  SGLANG;

  /**
   * Returns the label that the router compares: workers of one label can hand over to each other.
   */
  String label() {
    return this == NONE ? "" : name().toLowerCase(Locale.ROOT);
  }
}
