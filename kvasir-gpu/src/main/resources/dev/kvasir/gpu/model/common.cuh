// Sums, and numbers in 16 bytes; the sizes of the model come as macros from whoever compiles.
//
// WIDTH, HEADS, KV_HEADS, HEAD_SIZE, FEED_FORWARD, VOCABULARY, EPSILON, NEIGHBOURS (whether
// positions turn neighbouring numbers), HAS_BIAS, HAS_HEAD_NORM.
#define BLOCK_TOKENS 16
#define GROUP (HEADS / KV_HEADS)
#define QKV_WIDTH ((HEADS + 2 * KV_HEADS) * HEAD_SIZE)
// Keys of one head in one block; its values follow.
#define HEAD_BYTES (BLOCK_TOKENS * HEAD_SIZE * 2)
#define LOG2_E 1.4426950408889634f
#define ALL_LANES 0xffffffffu

__device__ __forceinline__ float low_half(u32 two) { return from_bits(two << 16); }
__device__ __forceinline__ float high_half(u32 two) { return from_bits(two & 0xffff0000u); }
__device__ __forceinline__ float to_float(bf16 value) { return from_bits((u32) value << 16); }
__device__ __forceinline__ bf16 to_bf16(float value) { return (bf16) pack_bf16(value, 0.f); }

__device__ __forceinline__ void unpack(float (&out)[8], uint4 v) {
  out[0] = low_half(v.x);
  out[1] = high_half(v.x);
  out[2] = low_half(v.y);
  out[3] = high_half(v.y);
  out[4] = low_half(v.z);
  out[5] = high_half(v.z);
  out[6] = low_half(v.w);
  out[7] = high_half(v.w);
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(ALL_LANES, value, distance);
  return value;
}

// The sum over all threads of a block of at most 1,024, in an order that never changes.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float sums[32];
  value = warp_sum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.f;
  for (int i = 0; i < blockDim.x / 32; i++) sum += sums[i];
  return sum;
}
