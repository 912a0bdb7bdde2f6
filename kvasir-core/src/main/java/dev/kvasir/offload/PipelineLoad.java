package dev.kvasir.offload;

/**
 * What is inside a pipeline now.
 *
 * @param waiting blocks before their upgrade
 * @param waitingMax the most there may be of them
 * @param moving blocks after their upgrade
 * @param pending different blocks on their way
 * @param onDeck batches that are upgraded and not started
 * @param transfers batches that are being copied
 * @param overdue blocks whose transfer took too long: their handles have ended, but the store has
 *     not answered and may still read them, so they stay held
 */
public record PipelineLoad(
    int waiting, int waitingMax, int moving, int pending, int onDeck, int transfers, int overdue) {
  public boolean isEmpty() {
    return waiting == 0 && moving == 0 && pending == 0 && onDeck == 0 && transfers == 0;
  }
}
