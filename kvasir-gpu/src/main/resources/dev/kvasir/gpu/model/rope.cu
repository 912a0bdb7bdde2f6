// Queries and keys get their bias, their normalization and their position; keys and values go into
// the blocks of their sequence.
//
// One warp a head: blockIdx.x is the token, 8 heads a block along y: those that ask, keys, values.
// A block of keys and values holds, for each layer and head, 16 keys and then 16 values.
extern "C" __global__ void kvasir_rope(
    bf16 *qkv, const float *bias, const float *query_norm, const float *key_norm,
    const float *cosines, const float *sines, const int *positions, const int *block_starts,
    const int *blocks, char *kv, u64 block_bytes, u64 layer_at) {
  let_next_begin();
  wait_for_before();
  const int half = HEAD_SIZE / 2;
  int token = blockIdx.x;
  int head = blockIdx.y * 8 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  int position = positions[token];
  if (head >= HEADS + 2 * KV_HEADS || position < 0) return;
  bool is_query = head < HEADS, is_value = head >= HEADS + KV_HEADS;
  bf16 *from = qkv + (u64) token * QKV_WIDTH + head * HEAD_SIZE;
  bf16 *to = from;
  if (!is_query) {
    int kv_head = is_value ? head - HEADS - KV_HEADS : head - HEADS;
    u64 block = blocks[block_starts[token] + position / BLOCK_TOKENS];
    to = (bf16 *) (kv + block * block_bytes + layer_at + kv_head * (2 * HEAD_BYTES)
                   + (is_value ? HEAD_BYTES : 0))
        + position % BLOCK_TOKENS * HEAD_SIZE;
  }
  // The pairs that a position turns; a lane holds every 32nd.
  const int PAIRS = (half + 31) / 32;
  float a[PAIRS], b[PAIRS];
  float squares = 0.f;
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    int i = lane + 32 * p;
    a[p] = b[p] = 0.f;
    if (i >= half) continue;
    int first = NEIGHBOURS ? 2 * i : i, second = NEIGHBOURS ? 2 * i + 1 : i + half;
    a[p] = to_float(from[first]);
    b[p] = to_float(from[second]);
    if (HAS_BIAS) {
      a[p] += bias[head * HEAD_SIZE + first];
      b[p] += bias[head * HEAD_SIZE + second];
    }
    squares += a[p] * a[p] + b[p] * b[p];
  }
  float scale = 1.f;
  if (HAS_HEAD_NORM && !is_value) scale = rsqrtf(warp_sum(squares) / HEAD_SIZE + EPSILON);
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    int i = lane + 32 * p;
    if (i >= half) continue;
    int first = NEIGHBOURS ? 2 * i : i, second = NEIGHBOURS ? 2 * i + 1 : i + half;
    float x = a[p], y = b[p];
    if (!is_value) {
      if (HAS_HEAD_NORM) {
        const float *weight = is_query ? query_norm : key_norm;
        x *= scale * weight[first];
        y *= scale * weight[second];
      }
      float cosine = cosines[(u64) position * half + i], sine = sines[(u64) position * half + i];
      float turned = x * cosine - y * sine;
      y = x * sine + y * cosine;
      x = turned;
    }
    to[first] = to_bf16(x);
    to[second] = to_bf16(y);
  }
}
