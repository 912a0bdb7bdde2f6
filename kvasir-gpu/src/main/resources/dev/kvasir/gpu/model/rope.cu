// Queries and keys get their bias, their normalization and their position; keys and values go into
// the blocks of their sequence.
//
// A block of keys and values holds, for each layer and head, 16 keys and then 16 values.

// Where the keys and values of a step's tokens go, and how positions turn their pairs.
struct Turn {
  const float *bias, *cosines, *sines;
  const int *positions, *block_starts, *blocks;
  char *kv;
  u64 block_bytes, layer_at;
};

// The place of a token's head; heads that ask come first, then keys, then values.
__device__ __forceinline__ bf16 *turned_place(
    const Turn &turn, bf16 *qkv, int token, int head, int position) {
  if (head < HEADS) return qkv + (u64) token * QKV_WIDTH + head * HEAD_SIZE;
  bool is_value = head >= HEADS + KV_HEADS;
  int kv_head = is_value ? head - HEADS - KV_HEADS : head - HEADS;
  u64 block = turn.blocks[turn.block_starts[token] + position / BLOCK_TOKENS];
  return (bf16 *) (turn.kv + block * turn.block_bytes + turn.layer_at + kv_head * (2 * HEAD_BYTES)
                   + (is_value ? HEAD_BYTES : 0))
      + position % BLOCK_TOKENS * HEAD_SIZE;
}

// The numbers of a head that the pair i has.
__device__ __forceinline__ int pair_first(int i) { return NEIGHBOURS ? 2 * i : i; }
__device__ __forceinline__ int pair_second(int i) { return NEIGHBOURS ? 2 * i + 1 : i + HEAD_SIZE / 2; }

// A position turns the pair i.
__device__ __forceinline__ void turn_pair(
    const Turn &turn, float &x, float &y, int i, int position) {
  u64 at = (u64) position * (HEAD_SIZE / 2) + i;
  float cosine = turn.cosines[at], sine = turn.sines[at];
  float turned = x * cosine - y * sine;
  y = x * sine + y * cosine;
  x = turned;
}

// One warp a head: blockIdx.x is the token, 8 heads a block along y.
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
  Turn turn = {bias, cosines, sines, positions, block_starts, blocks, kv, block_bytes, layer_at};
  bool is_query = head < HEADS, is_value = head >= HEADS + KV_HEADS;
  bf16 *from = qkv + (u64) token * QKV_WIDTH + head * HEAD_SIZE;
  bf16 *to = turned_place(turn, qkv, token, head, position);
  // The pairs that a position turns; a lane holds every 32nd.
  const int PAIRS = (half + 31) / 32;
  float a[PAIRS], b[PAIRS];
  float squares = 0.f;
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    int i = lane + 32 * p;
    a[p] = b[p] = 0.f;
    if (i >= half) continue;
    int first = pair_first(i), second = pair_second(i);
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
    int first = pair_first(i), second = pair_second(i);
    float x = a[p], y = b[p];
    if (!is_value) {
      if (HAS_HEAD_NORM) {
        const float *weight = is_query ? query_norm : key_norm;
        x *= scale * weight[first];
        y *= scale * weight[second];
      }
      turn_pair(turn, x, y, i, position);
    }
    to[first] = to_bf16(x);
    to[second] = to_bf16(y);
  }
}
