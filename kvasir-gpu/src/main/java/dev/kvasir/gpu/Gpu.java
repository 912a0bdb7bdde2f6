package dev.kvasir.gpu;

/**
 * A GPU as the driver describes it.
 *
 * @param index what the driver counts it as, from 0
 * @param processors how many multiprocessors it has
 */
public record Gpu(int index, String name, long memoryBytes, int processors) {}
