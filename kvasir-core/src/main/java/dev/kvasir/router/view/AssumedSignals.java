package dev.kvasir.router.view;

import java.util.List;

/**
 * The load assumed for instances that have not reported it lately.
 *
 * <p>Each figure is the mean of the instances that report it, and at least what the router itself
 * has sent there. So a silent instance is neither preferred nor excluded.
 */
final class AssumedSignals {
  private final List<InstanceView> instances;

  private AssumedSignals(List<InstanceView> instances) {
    this.instances = instances;
  }

  /** The instances, with an assumption for each figure of load that was not reported. */
  static List<InstanceView> in(List<InstanceView> instances) {
    for (int i = 0; i < instances.size(); i++) {
      if (!instances.get(i).signals().isLoadKnown()) {
        return new AssumedSignals(instances).filled();
      }
    }
    return instances;
  }

  private List<InstanceView> filled() {
    double queue = 0;
    double batch = 0;
    double usage = 0;
    double foreign = 0;
    int queues = 0;
    int batches = 0;
    int usages = 0;
    for (int i = 0; i < instances.size(); i++) {
      var reported = instances.get(i).signals();
      if (reported.queueDepth() != EngineSignals.UNKNOWN) {
        queue += reported.queueDepth();
        queues++;
      }
      if (reported.batchSize() != EngineSignals.UNKNOWN) {
        batch += reported.batchSize();
        foreign += instances.get(i).load().foreign();
        batches++;
      }
      if (reported.kvUtilisation() != EngineSignals.UNKNOWN) {
        usage += reported.kvUtilisation();
        usages++;
      }
    }
    int queueMean = (int) Math.round(queue / Math.max(1, queues));
    int batchMean = (int) Math.round(batch / Math.max(1, batches));
    double usageMean = usage / Math.max(1, usages);
    int foreignMean = (int) Math.round(foreign / Math.max(1, batches));
    var filled = new InstanceView[instances.size()];
    for (int i = 0; i < filled.length; i++) {
      var instance = instances.get(i);
      boolean isReported = instance.signals().batchSize() != EngineSignals.UNKNOWN;
      var load = isReported ? instance.load() : instance.load().withForeign(foreignMean);
      filled[i] = instance.with(assumed(instance, queueMean, batchMean, usageMean), load);
    }
    return List.of(filled);
  }

  private static EngineSignals assumed(
      InstanceView instance, int queueMean, int batchMean, double usageMean) {
    var reported = instance.signals();
    var load = instance.load();
    boolean isQueueReported = reported.queueDepth() != EngineSignals.UNKNOWN;
    boolean isBatchReported = reported.batchSize() != EngineSignals.UNKNOWN;
    boolean isUsageReported = reported.kvUtilisation() != EngineSignals.UNKNOWN;
    return new EngineSignals(
        isQueueReported ? reported.queueDepth() : Math.max(queueMean, load.prefills()),
        isBatchReported ? reported.batchSize() : Math.max(batchMean, load.decodeStreams()),
        isUsageReported ? reported.kvUtilisation() : usageMean,
        reported.hitRate(),
        reported.freeBlocks(),
        reported.prefillTokens());
  }
}
