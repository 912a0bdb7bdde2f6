/**
 * CUDA's driver through the foreign-function API: devices, memory, streams, events, and one kernel
 * that moves scattered blocks. Every handle is counted and given back in reverse order. Where there
 * is no driver, {@link dev.kvasir.gpu.CudaAnswer} says why.
 */
package dev.kvasir.gpu;
