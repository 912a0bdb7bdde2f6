/**
 * CUDA's driver through the foreign-function API: devices, memory, streams, events, and one kernel
 * that moves scattered blocks. Every handle is counted and released in reverse order. Without a
 * driver, {@link dev.kvasir.gpu.CudaAnswer} holds the reason.
 */
package dev.kvasir.gpu;
