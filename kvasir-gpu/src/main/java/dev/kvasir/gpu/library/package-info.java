/**
 * NVIDIA's compiler (NVRTC) and matrix library (cuBLASLt) through the foreign-function API, found
 * where a toolkit, a Python package or the system has them. Both are optional: where one is
 * missing, {@link dev.kvasir.gpu.library.LibraryMissing} says where it was looked for.
 */
package dev.kvasir.gpu.library;
