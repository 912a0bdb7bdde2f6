package dev.kvasir.tools.fleet;

import dev.kvasir.embedded.EnginePublisher;
import dev.kvasir.embedded.PacedEngines;
import dev.kvasir.embedded.ServedModel;
import dev.kvasir.events.PublisherSettings;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.ZContext;

/**
 * Look-alike vLLM workers in one process: real HTTP, real KV events, the product's own engine core,
 * and no model; answers take the time that a model would take.
 */
public final class Fleet implements AutoCloseable {
  private final PacedEngines engines;
  private final Network network = Network.open();
  private final ZContext sockets = new ZContext();
  private final List<FleetWorker> workers = new ArrayList<>();

  private Fleet(PacedEngines engines) {
    this.engines = engines;
  }

  /** Starts the workers. */
  public static Fleet start(ServedModel model, FleetSettings settings, PacedEngines.Pace pace)
      throws IOException {
    return start(model, settings, pace, PublisherSettings.loopback("kv-events"));
  }

  /** Starts the workers, whose KV events are told like that. */
  static Fleet start(
      ServedModel model,
      FleetSettings settings,
      PacedEngines.Pace pace,
      PublisherSettings publisherSettings)
      throws IOException {
    var fleet =
        new Fleet(
            new PacedEngines(
                model, settings.workers(), settings.blocks(), settings.engine(), pace));
    try {
      for (int i = 0; i < settings.workers(); i++) fleet.add(settings, publisherSettings, i);
      return fleet;
    } catch (IOException | RuntimeException e) {
      fleet.close();
      throw e;
    }
  }

  private void add(FleetSettings settings, PublisherSettings publisherSettings, int index)
      throws IOException {
    var engine = engines.engines().get(index);
    var publisher = new EnginePublisher(sockets, publisherSettings, engine, List.of());
    workers.add(new FleetWorker(network, settings.http(index), engine, publisher));
  }

  public List<FleetWorker> workers() {
    return List.copyOf(workers);
  }

  public FleetWorker worker(int index) {
    return workers.get(index);
  }

  /** Lets somebody decide over HTTP what goes wrong; to be closed before the fleet. */
  public FleetControl control(HttpSettings settings) {
    return new FleetControl(network, settings, this);
  }

  @Override
  public void close() {
    workers.forEach(FleetWorker::close);
    network.close();
    engines.close();
    sockets.close();
  }
}
