package dev.kvasir.gpu.model;

/** Where on the GPU the tokens lie that the steps of one engine have sampled. */
public record GpuFeed(long address) {}
