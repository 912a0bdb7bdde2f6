// What happens to each row by itself: the embedding of a token, and normalization.

// One block a row. A source that is negative names, as ~source, a token that an earlier step
// sampled: it never left the device.
extern "C" __global__ void kvasir_embed(
    float *x, const bf16 *table, const int *source, const int *sampled) {
  int row = blockIdx.x;
  int token = source[row] >= 0 ? source[row] : sampled[~source[row]];
  const bf16 *from = table + (u64) token * WIDTH;
  float *to = x + (u64) row * WIDTH;
  for (int i = threadIdx.x * 8; i < WIDTH; i += blockDim.x * 8) {
    float v[8];
    unpack(v, *(const uint4 *) (from + i));
    *(float4 *) (to + i) = make_float4(v[0], v[1], v[2], v[3]);
    *(float4 *) (to + i + 4) = make_float4(v[4], v[5], v[6], v[7]);
  }
}

// One block a row: out = x / rms(x) * weight. Where `rows` is given, it names the rows of x.
extern "C" __global__ void kvasir_norm(
    bf16 *out, const float *x, const float *weight, const int *rows) {
  const float *from = x + (u64) (rows ? rows[blockIdx.x] : blockIdx.x) * WIDTH;
  bf16 *to = out + (u64) blockIdx.x * WIDTH;
  float squares = 0.f;
  for (int i = threadIdx.x * 4; i < WIDTH; i += blockDim.x * 4) {
    float4 v = *(const float4 *) (from + i);
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  float scale = rsqrtf(block_sum(squares) / WIDTH + EPSILON);
  for (int i = threadIdx.x * 4; i < WIDTH; i += blockDim.x * 4) {
    float4 v = *(const float4 *) (from + i);
    float4 w = *(const float4 *) (weight + i);
    *(uint2 *) (to + i) =
        make_uint2(pack_bf16(v.x * scale * w.x, v.y * scale * w.y),
                   pack_bf16(v.z * scale * w.z, v.w * scale * w.w));
  }
}

// out = gate / (1 + exp(-gate)) * up, where a row holds all of gate and then all of up.
extern "C" __global__ void kvasir_gate(bf16 *out, const bf16 *both, int rows) {
  u64 pieces = (u64) rows * (FEED_FORWARD / 8);
  for (u64 p = blockIdx.x * (u64) blockDim.x + threadIdx.x; p < pieces;
       p += (u64) gridDim.x * blockDim.x) {
    u64 row = p / (FEED_FORWARD / 8);
    int at = (int) (p % (FEED_FORWARD / 8)) * 8;
    const bf16 *from = both + row * (2 * FEED_FORWARD) + at;
    float gate[8], up[8];
    unpack(gate, *(const uint4 *) from);
    unpack(up, *(const uint4 *) (from + FEED_FORWARD));
#pragma unroll
    for (int i = 0; i < 8; i++) gate[i] = gate[i] / (1.f + power_of_two(-gate[i] * LOG2_E)) * up[i];
    *(uint4 *) (out + row * FEED_FORWARD + at) =
        make_uint4(pack_bf16(gate[0], gate[1]), pack_bf16(gate[2], gate[3]),
                   pack_bf16(gate[4], gate[5]), pack_bf16(gate[6], gate[7]));
  }
}
