package dev.kvasir.gpu.model;

/** The address on the GPU of the tokens that the last step of one engine sampled. */
public record GpuFeed(long address) {}
