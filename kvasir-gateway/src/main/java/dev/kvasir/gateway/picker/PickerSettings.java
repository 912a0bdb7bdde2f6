package dev.kvasir.gateway.picker;

import dev.kvasir.net.server.HttpSettings;

/**
 * Settings of an endpoint picker.
 *
 * @param listen address that Envoy uses; its limits are those of requests, its keys are not used
 * @param prefillHeader header that names the worker that is to prefill, as HOST:PORT
 */
public record PickerSettings(HttpSettings listen, String prefillHeader) {
  /** By which the proxy beside a worker knows who is to prefill, as llm-d's does. */
  public static final String PREFILL_HEADER = "x-prefiller-host-port";

  public PickerSettings {
    if (!prefillHeader.matches("[a-z0-9-]+")) {
      throw new IllegalArgumentException(
          "'" + prefillHeader + "', expected the name of a header in lower case");
    }
  }

  public static PickerSettings at(HttpSettings listen) {
    return new PickerSettings(listen, PREFILL_HEADER);
  }
}
