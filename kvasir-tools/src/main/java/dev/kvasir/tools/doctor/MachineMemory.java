package dev.kvasir.tools.doctor;

/**
 * The memory that this process may have.
 *
 * @param totalBytes all of the machine, or of the control group if that is less
 * @param availableBytes what is not in use of it
 */
public record MachineMemory(long totalBytes, long availableBytes) {
  public static MachineMemory read() {
    var physical = MemoryProbe.Physical.read();
    long limit = ControlGroup.read().memoryBytes().orElse(Long.MAX_VALUE);
    return new MachineMemory(
        Math.min(limit, physical.totalBytes()), Math.min(limit, physical.availableBytes()));
  }
}
