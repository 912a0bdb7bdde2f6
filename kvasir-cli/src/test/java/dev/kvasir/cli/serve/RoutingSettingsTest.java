package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cli.settings.PrefillSettings;
import dev.kvasir.cli.settings.RoutingSettings;
import dev.kvasir.gateway.worker.Routing;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RoutingSettingsTest {
  @Test
  void theThroughputIsWhatTheRouterStartsFrom() {
    var routing = routing(new PrefillSettings(20_000, 2, 3, 1.25));
    assertThat(routing.settings().start().workPerSecond()).isEqualTo(20_000);
    assertThat(routing.placement().tokensPerSecond()).isEqualTo(20_000);
    assertThat(routing.placement().placementsMax()).isEqualTo(2);
    assertThat(routing.placement().dedicatedPlacementsMax()).isEqualTo(3);
    assertThat(routing.placement().overloadFactor()).isEqualTo(1.25);
    assertThat(routing.settings().sessions().patience()).isEqualTo(Duration.ofMillis(70));
  }

  @Test
  void whatCannotBeMeantIsRefusedWithItsName() {
    assertThatThrownBy(() -> new PrefillSettings(0, 1, 0, 1.5))
        .hasMessage("throughput 0.0, expected tokens a second, more than 0");
    assertThatThrownBy(() -> new PrefillSettings(1, 0, 0, 1.5))
        .hasMessage("placements-max 0, expected 1 or more");
    assertThatThrownBy(() -> new PrefillSettings(1, 1, -1, 1.5))
        .hasMessage("dedicated-placements-max -1, expected 0 or more");
    assertThatThrownBy(() -> new PrefillSettings(1, 1, 0, Double.NaN))
        .hasMessage("overload-factor NaN, expected a number above 0");
  }

  private static Routing routing(PrefillSettings prefill) {
    var usual = RoutingSettings.DEFAULT;
    var settings =
        new RoutingSettings(
            usual.policy(),
            usual.placement(),
            usual.scorers(),
            usual.prices(),
            usual.credits(),
            Routing.Naming.BYTES,
            "",
            0,
            0,
            usual.indexBlocks(),
            prefill,
            usual.margins(),
            usual.targets(),
            Duration.ofMillis(70),
            usual.probePace(),
            null,
            null);
    return settings.routing(Routing.Naming.BYTES, 0);
  }
}
