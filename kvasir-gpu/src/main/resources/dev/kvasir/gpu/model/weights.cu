// Weights as bf16, from what a file has, or made up.
#define EACH(i, count)                                                                   \
  for (u64 i = blockIdx.x * (u64) blockDim.x + threadIdx.x; i < (count); \
       i += (u64) gridDim.x * blockDim.x)

extern "C" __global__ void kvasir_from_float(bf16 *out, const float *in, u64 count) {
  EACH(i, count) out[i] = to_bf16(in[i]);
}

extern "C" __global__ void kvasir_from_half(bf16 *out, const unsigned short *in, u64 count) {
  EACH(i, count) out[i] = to_bf16(from_half(in[i]));
}

// Blocks of 32 values: a scale as half, then as many signed bytes.
extern "C" __global__ void kvasir_from_q8(bf16 *out, const unsigned char *in, u64 count) {
  EACH(i, count) {
    const unsigned char *block = in + i / 32 * 34;
    float scale = from_half((unsigned short) (block[0] | block[1] << 8));
    out[i] = to_bf16(scale * (float) (signed char) block[2 + i % 32]);
  }
}

// Even between plus and minus `most`, the same for the same seed.
extern "C" __global__ void kvasir_random(bf16 *out, u64 count, u64 seed, float most) {
  EACH(i, count) {
    float unit = (float) (u32) (mix(seed + i) >> 40) * (1.f / 8388608.f) - 1.f;
    out[i] = to_bf16(unit * most);
  }
}
