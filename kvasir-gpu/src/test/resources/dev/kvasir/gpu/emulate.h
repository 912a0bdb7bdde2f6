// Runs the kernels on the processor, for tests on machines without a GPU: a block of threads as
// coroutines, one block after the other, warps and barriers as the real ones.
#define KVASIR_EMULATED
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned short bf16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
struct uint2 { u32 x, y; };
struct uint4 { u32 x, y, z, w; };
struct int4 { int x, y, z, w; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
static inline uint2 make_uint2(u32 x, u32 y) { return {x, y}; }
static inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Place { int x, y; };
static Place threadIdx, blockIdx, blockDim, gridDim;
static unsigned char dynamic_shared[256 << 10] __attribute__((aligned(16)));
#define DYNAMIC_SHARED(type, name) type *name = (type *) dynamic_shared

// Stacks are not a power of two apart, or all would share a few lines of the cache.
enum { THREADS_MAX = 1024, STACK_BYTES = (64 << 10) + 576 };
struct Barrier { int arrived, members; u64 round; };
// What runs is left for something else, and goes on where it was left.
#ifdef __x86_64__
typedef u64 *Context; // a stack, with the registers on top that a call leaves as they are
extern "C" __attribute__((visibility("hidden"))) void emulate_change(Context *from, Context to);
__asm__(".text\n.hidden emulate_change\n.globl emulate_change\n.type emulate_change, @function\n"
        "emulate_change:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
static void make(Context &made, char *stack, size_t bytes, void (*start)()) {
  u64 *top = (u64 *) (stack + bytes) - 1; // as behind a call
  *top = 0;
  *--top = (u64) start;
  made = top - 6;
  memset(made, 0, 6 * sizeof *made);
}
static inline void change(Context &from, Context &to) { emulate_change(&from, to); }
#else
#include <setjmp.h>
#include <ucontext.h>
struct Context { jmp_buf at; ucontext_t first; bool fresh; };
static void make(Context &made, char *stack, size_t bytes, void (*start)()) {
  getcontext(&made.first);
  made.first.uc_stack.ss_sp = stack;
  made.first.uc_stack.ss_size = bytes;
  made.first.uc_link = 0;
  makecontext(&made.first, start, 0);
  made.fresh = true;
}
static void change(Context &from, Context &to) {
  if (_setjmp(from.at)) return;
  if (!to.fresh) _longjmp(to.at, 1);
  to.fresh = false;
  setcontext(&to.first);
}
#endif
struct Thread { Context at; const Barrier *waits; u64 round; bool made, over, odd; };
static Thread threads[THREADS_MAX];
static char *stacks;
static Context scheduler;
static Barrier block_barrier, warp_barriers[THREADS_MAX / 32];
typedef u64 Slots[32][8];
static Slots slots[2][THREADS_MAX / 32];
static void *kernel;
static u64 *words;
static int current;

static void yield() {
  change(threads[current].at, scheduler);
  threadIdx.x = current;
}
static void wait_at(Barrier &b) {
  if (++b.arrived == b.members) { b.arrived = 0; b.round++; return; }
  threads[current].waits = &b;
  threads[current].round = b.round;
  yield();
}
static void leave(Barrier &b) {
  b.members--;
  if (b.members > 0 && b.arrived == b.members) { b.arrived = 0; b.round++; }
}
static inline void __syncthreads() { wait_at(block_barrier); }
static inline void warp_meet() { wait_at(warp_barriers[threadIdx.x / 32]); }
static inline void __syncwarp() { warp_meet(); }
// In turns, so that nobody has to wait until all have read: who writes here again has met all others
// over the other slots.
static inline Slots &next_slots() {
  threads[current].odd = !threads[current].odd;
  return slots[threads[current].odd][threadIdx.x / 32];
}
template <class T> static T __shfl_xor_sync(u32, T value, int distance) {
  int lane = threadIdx.x % 32;
  Slots &all = next_slots();
  memcpy(all[lane], &value, sizeof value);
  warp_meet();
  T other;
  memcpy(&other, all[lane ^ distance], sizeof other);
  return other;
}
static inline float from_bits(u32 bits) { float f; memcpy(&f, &bits, 4); return f; }
static inline u32 bits_of(float f) { u32 b; memcpy(&b, &f, 4); return b; }
static inline u32 nearest_bf16(float f) {
  u32 b = bits_of(f);
  return f != f ? b >> 16 | 0x40 : b + 0x7fff + (b >> 16 & 1) >> 16;
}
static inline u32 pack_bf16(float low, float high) { return nearest_bf16(low) | nearest_bf16(high) << 16; }
static inline float from_half(unsigned short h) {
  int exponent = h >> 10 & 31, fraction = h & 1023;
  float f = exponent == 31 ? (fraction ? NAN : INFINITY)
          : exponent ? ldexpf(fraction + 1024, exponent - 25) : ldexpf(fraction, -24);
  return h & 0x8000 ? -f : f;
}
static inline float power_of_two(float e) { return exp2f(e); }
static inline float rsqrtf(float v) { return 1.f / sqrtf(v); }
static inline uint4 load_once(const uint4 *at) { return *at; }
static inline uint4 load_written(const uint4 *at) { return *at; }
static inline void copy_async(void *to, const void *from, bool present) {
  if (present) memcpy(to, from, 16); else memset(to, 0, 16);
}
static inline void wait_for_before() {}
static inline void let_next_begin() {}
static inline void copies_commit() {}
template <int LEFT> static inline void copies_wait() {}
static void matrices(u32 (&r)[4], const void *row, bool transposed) {
  int lane = threadIdx.x % 32;
  Slots &all = next_slots();
  all[lane][0] = (u64) row;
  warp_meet();
  for (int j = 0; j < 4; j++) {
    bf16 two[2];
    for (int h = 0; h < 2; h++) {
      int from = transposed ? lane % 4 * 2 + h : lane / 4, at = transposed ? lane / 4 : lane % 4 * 2 + h;
      two[h] = ((const bf16 *) all[8 * j + from][0])[at];
    }
    r[j] = two[0] | (u32) two[1] << 16;
  }
}
static inline void load_matrices(u32 (&r)[4], const void *row) { matrices(r, row, false); }
static inline void load_matrices_transposed(u32 (&r)[4], const void *row) { matrices(r, row, true); }
static inline float half_of(u32 two, int which) { return from_bits(which ? two & 0xffff0000u : two << 16); }
static void multiply_add(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  int lane = threadIdx.x % 32;
  Slots &all = next_slots();
  u64 *mine = all[lane];
  for (int i = 0; i < 4; i++) mine[i] = a[i];
  mine[4] = b0;
  mine[5] = b1;
  warp_meet();
  for (int i = 0; i < 4; i++) {
    int row = lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 16; k++) {
      u32 x = all[row % 8 * 4 + k % 8 / 2][(row >= 8 ? 1 : 0) + (k >= 8 ? 2 : 0)];
      u32 y = all[column * 4 + k % 8 / 2][k >= 8 ? 5 : 4];
      d[i] += half_of(x, k % 2) * half_of(y, k % 2);
    }
  }
}

// Whole numbers and floats travel in registers of their own, and only the last parameter of a kernel
// is ever a float: so every kernel can be called as one with all of them.
static void call_kernel() {
  int count = (int) words[0];
  float last = from_bits((u32) words[count]);
  u64 *w = words + 1;
  ((void (*)(float, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64)) kernel)(
      last, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14]);
}
// A thread lives on after its kernel, for the next block.
static void begin() {
  for (;;) {
    threadIdx.x = current;
    call_kernel();
    threads[current].over = true;
    leave(block_barrier);
    leave(warp_barriers[current / 32]);
    change(threads[current].at, scheduler);
  }
}
static void run_block(int count, int shared) {
  block_barrier = {0, count, 0};
  for (int i = 0; i < count; i += 32) warp_barriers[i / 32] = {0, count - i < 32 ? count - i : 32, 0};
  for (int i = 0; i < count; i++) threads[i].over = threads[i].odd = false;
  memset(dynamic_shared, 0xff, shared);
  for (bool any = true; any;) {
    any = false;
    for (int i = 0; i < count; i++) {
      Thread &t = threads[i];
      if (t.over) continue;
      any = true;
      if (t.waits && t.waits->round == t.round) continue;
      t.waits = 0;
      current = i;
      if (!t.made) make(t.at, stacks + (size_t) i * STACK_BYTES, STACK_BYTES, begin);
      t.made = true;
      change(scheduler, t.at);
    }
  }
}
// The words: how many parameters, then the parameters.
extern "C" __attribute__((visibility("default"))) void emulate_launch(
    void *function, int gx, int gy, int threads_of_block, int shared, u64 *parameters) {
  if (!stacks) stacks = (char *) malloc((size_t) THREADS_MAX * STACK_BYTES);
  kernel = function;
  words = parameters;
  blockDim = {threads_of_block, 1};
  gridDim = {gx, gy};
  for (int y = 0; y < gy; y++)
    for (int x = 0; x < gx; x++) {
      blockIdx = {x, y};
      run_block(threads_of_block, shared);
    }
}
