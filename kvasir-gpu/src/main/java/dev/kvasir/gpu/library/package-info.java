/**
 * NVIDIA's compiler (NVRTC) and matrix library (cuBLASLt) through the foreign-function API, found
 * in a CUDA toolkit, a Python package or the system. Both are optional. If one is missing, {@link
 * dev.kvasir.gpu.library.LibraryMissing} lists the places searched.
 */
package dev.kvasir.gpu.library;
