package dev.kvasir.cli.serve;

import picocli.CommandLine.Mixin;

/** All options of serving, in the parts that help shows. */
final class ServeOptions {
  @Mixin private GatewayOptions gateway = new GatewayOptions();
  @Mixin private EmbeddedOptions engines = new EmbeddedOptions();

  GatewayOptions gateway() {
    return gateway;
  }

  EmbeddedOptions engines() {
    return engines;
  }
}
