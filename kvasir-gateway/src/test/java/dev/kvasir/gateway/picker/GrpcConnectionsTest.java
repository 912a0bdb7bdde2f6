package dev.kvasir.gateway.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.net.server.HttpLimits;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GrpcConnectionsTest {
  private final GrpcConnections connections =
      new GrpcConnections(Records.with(HttpLimits.DEFAULT, "connectionsMax", 3));

  private EmbeddedChannel accepted() {
    var channel = new EmbeddedChannel();
    connections.accepted(channel);
    return channel;
  }

  private void stream(EmbeddedChannel channel, GrpcStream.End end) {
    connections.begins(channel);
    connections.ends(channel, end);
  }

  @Test
  void manyResetsForNothingHaveTheConnectionWaitAndNotClose() {
    var channel = accepted();
    for (int i = 0; i < 20_000; i++) stream(channel, GrpcStream.End.FRUITLESS);
    assertThat(channel.config().isAutoRead()).isFalse();
    assertThat(channel.isOpen()).isTrue();
    channel.advanceTimeBy(1, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void resetsOfAnsweredStreamsCostNothing() {
    var channel = accepted();
    for (int i = 0; i < 20_000; i++) {
      stream(channel, GrpcStream.End.ANSWERED);
      stream(channel, GrpcStream.End.FRUITLESS);
    }
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void silentConnectionsAreCountedAndMakeRoom() {
    var busy = accepted();
    connections.begins(busy);
    var silent = new ArrayList<EmbeddedChannel>();
    for (int i = 0; i < 50; i++) silent.add(accepted());
    assertThat(connections.count()).isEqualTo(3);
    assertThat(busy.isOpen()).isTrue();
    assertThat(silent.stream().filter(EmbeddedChannel::isOpen)).hasSize(2);
    connections.sweep(System.nanoTime() + HttpLimits.DEFAULT.headTime().toNanos() + 1);
    assertThat(silent.stream().filter(EmbeddedChannel::isOpen)).isEmpty();
  }

  @Test
  void oneThatComesWhereAllAreBusyIsClosed() {
    for (int i = 0; i < 3; i++) connections.begins(accepted());
    assertThat(accepted().isOpen()).isFalse();
    assertThat(connections.count()).isEqualTo(3);
  }
}
