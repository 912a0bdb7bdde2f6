// What the kernels need of the machine beyond plain CUDA: bf16, tensor cores, asynchronous copies.
//
// No header of the toolkit is included, so that the run-time compiler needs nothing beside itself.
// Tests run the kernels on the processor, with the same functions in C++.
#ifndef KVASIR_EMULATED
typedef unsigned short bf16;
typedef unsigned int u32;
typedef unsigned long long u64;

// The dynamic shared memory of a kernel, under a name and type.
extern __shared__ __align__(16) unsigned char dynamic_shared[];
#define DYNAMIC_SHARED(type, name) type *name = (type *) dynamic_shared

__device__ __forceinline__ float from_bits(u32 bits) { return __uint_as_float(bits); }

// Two floats rounded to nearest, the first in the low half.
__device__ __forceinline__ u32 pack_bf16(float low, float high) {
  u32 packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

__device__ __forceinline__ float from_half(unsigned short half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}

__device__ __forceinline__ float power_of_two(float exponent) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(exponent));
  return value;
}

// 16 bytes that are read once: they need no place in the first cache.
__device__ __forceinline__ uint4 load_once(const uint4 *at) {
  uint4 v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at));
  return v;
}

// The same of what another kernel may still write when this one begins: it is not read before
// wait_for_before().
__device__ __forceinline__ uint4 load_written(const uint4 *at) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at));
  return v;
}

// A kernel that was begun early waits here until the one before it has ended.
__device__ __forceinline__ void wait_for_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

// The kernel behind this one may begin, where it is launched to begin early.
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ __forceinline__ u32 shared_address(const void *at) {
  return (u32) __cvta_generic_to_shared(at);
}

// Four matrices of 8 by 8 bf16; lane i gives the row i % 8 of matrix i / 8.
__device__ __forceinline__ void load_matrices(u32 (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

__device__ __forceinline__ void load_matrices_transposed(u32 (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row)));
}

// d (16 by 8) += a (16 by 16) * b (16 by 8), by one warp.
__device__ __forceinline__ void multiply_add(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 16 bytes to shared memory, or as many zeros where there is nothing to read.
__device__ __forceinline__ void copy_async_at(u32 to, const void *from, bool present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(to), "l"(from), "r"(present ? 16 : 0));
}

__device__ __forceinline__ void copy_async(void *to, const void *from, bool present) {
  copy_async_at(shared_address(to), from, present);
}

__device__ __forceinline__ void copies_commit() { asm volatile("cp.async.commit_group;"); }

// Waits until at most so many groups of copies are on their way.
template <int LEFT>
__device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" : : "n"(LEFT));
}
#endif
