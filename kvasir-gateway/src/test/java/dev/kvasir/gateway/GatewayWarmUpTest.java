package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.Network;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class GatewayWarmUpTest {
  private final GatewaySettings settings = GatewaySettings.of(0, List.of());

  @Test
  void requestsOfAllKindsAreAnswered() {
    var byTokens = settings.with(Routing.DEFAULT.with(Routing.Naming.TOKENS));
    try (var network = Network.open(1)) {
      int answered =
          GatewayWarmUp.run(network, byTokens, Gateway.Beside.NOTHING, Duration.ofSeconds(5));
      // A request that is not answered ends it; there are sixteen kinds.
      assertThat(answered).isGreaterThan(64);
    }
  }

  @Test
  void noTimeIsNoWarmUp() {
    try (var network = Network.open(1)) {
      assertThat(GatewayWarmUp.run(network, settings, Gateway.Beside.NOTHING, Duration.ZERO))
          .isZero();
    }
  }
}
