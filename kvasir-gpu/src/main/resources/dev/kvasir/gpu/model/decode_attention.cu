// One query a sequence attends to all of its context.
//
// A context is cut into chunks of CHUNK tokens, always at the same places, whatever else is in the
// batch; so the order of every sum depends on the sequence alone. A block of threads takes one
// chunk and the heads of one group, which share what it loads. HEAD_SIZE / 8 lanes read a token, 16
// bytes each; each such part of a warp keeps a softmax of its own until the end.
#define CHUNK 256
#define LANES (HEAD_SIZE / 8)
#define PARTS (32 / LANES)
#define ROUNDS (BLOCK_TOKENS / PARTS)
#define STATES (ATTENTION_WARPS * PARTS)
// So many heads of a group at a time; a larger one is cut, and loads twice.
#define TOGETHER                                                                    \
  (GROUP <= 8 ? GROUP                                                               \
              : (GROUP % 8 == 0 ? 8                                                 \
                                : (GROUP % 7 == 0                                   \
                                       ? 7                                          \
                                       : (GROUP % 6 == 0 ? 6 : (GROUP % 5 == 0 ? 5  \
                                                                               : 1)))))
// As many as leave room for all their sums in shared memory.
#define ATTENTION_WARPS (TOGETHER * HEAD_SIZE <= 512 ? 8 : 4)
#define NOTHING (-1e30f)

// A chunk of one sequence: which token asks, the first position and the one behind the last, where
// its list of blocks begins, and whether it is all of the context.
struct Item {
  int token, first, end, blocks, whole, unused0, unused1, unused2;
};

// Grid: HEADS / TOGETHER, then the items.
extern "C" __global__ void __launch_bounds__(32 * ATTENTION_WARPS) kvasir_decode_attention(
    bf16 *out, float *partial, float2 *sums, const bf16 *qkv, const char *kv, u64 block_bytes,
    u64 layer_at, const Item *items, const int *blocks, float scale) {
  let_next_begin();
  // The lists are there since the beginning of the step; queries, keys and values are not.
  Item item = items[blockIdx.y];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int page = item.first / BLOCK_TOKENS + warp;
  int block = page * BLOCK_TOKENS < item.end ? blocks[item.blocks + page] : 0;
  wait_for_before();
  if (item.first >= item.end) return;
  int head = blockIdx.x * TOGETHER, kv_head = head / GROUP;
  int part = lane / LANES, at = lane % LANES * 8;
  float q[TOGETHER][8], sum[TOGETHER], most[TOGETHER], seen[TOGETHER][8];
#pragma unroll
  for (int g = 0; g < TOGETHER; g++) {
    unpack(q[g], *(const uint4 *) (qkv + (u64) item.token * QKV_WIDTH + (head + g) * HEAD_SIZE + at));
    sum[g] = 0.f;
    most[g] = NOTHING;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      q[g][i] *= scale * LOG2_E;
      seen[g][i] = 0.f;
    }
  }
  for (; page * BLOCK_TOKENS < item.end; page += ATTENTION_WARPS) {
    int left = item.end - page * BLOCK_TOKENS;
    const char *keys =
        kv + (u64) block * block_bytes + layer_at + kv_head * (2 * HEAD_BYTES) + at * 2;
    if (left > BLOCK_TOKENS * ATTENTION_WARPS) block = blocks[item.blocks + page + ATTENTION_WARPS];
    const char *values = keys + HEAD_BYTES;
    uint4 k[ROUNDS], v[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
      int token = r * PARTS + part;
      k[r] = token < left ? load_written((const uint4 *) (keys + token * (HEAD_SIZE * 2)))
                          : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
      int token = r * PARTS + part;
      v[r] = token < left ? load_written((const uint4 *) (values + token * (HEAD_SIZE * 2)))
                          : make_uint4(0, 0, 0, 0);
    }
    float score[ROUNDS][TOGETHER];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
      float key[8];
      unpack(key, k[r]);
#pragma unroll
      for (int g = 0; g < TOGETHER; g++) {
        float s = 0.f;
#pragma unroll
        for (int i = 0; i < 8; i++) s += q[g][i] * key[i];
#pragma unroll
        for (int distance = LANES / 2; distance > 0; distance /= 2)
          s += __shfl_xor_sync(ALL_LANES, s, distance);
        score[r][g] = r * PARTS + part < left ? s : NOTHING;
      }
    }
#pragma unroll
    for (int g = 0; g < TOGETHER; g++) {
      float highest = most[g];
#pragma unroll
      for (int r = 0; r < ROUNDS; r++) highest = fmaxf(highest, score[r][g]);
      float shrink = power_of_two(most[g] - highest);
      most[g] = highest;
      sum[g] *= shrink;
#pragma unroll
      for (int i = 0; i < 8; i++) seen[g][i] *= shrink;
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
      float value[8];
      unpack(value, v[r]);
#pragma unroll
      for (int g = 0; g < TOGETHER; g++) {
        float weight = r * PARTS + part < left ? power_of_two(score[r][g] - most[g]) : 0.f;
        sum[g] += weight;
#pragma unroll
        for (int i = 0; i < 8; i++) seen[g][i] += weight * value[i];
      }
    }
  }
  __shared__ float all[TOGETHER][STATES][HEAD_SIZE], sums_of[TOGETHER][STATES],
      most_of[TOGETHER][STATES];
  int state = warp * PARTS + part;
#pragma unroll
  for (int g = 0; g < TOGETHER; g++) {
#pragma unroll
    for (int i = 0; i < 8; i++) all[g][state][at + i] = seen[g][i];
    sums_of[g][state] = sum[g];
    most_of[g][state] = most[g];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TOGETHER * HEAD_SIZE; i += 32 * ATTENTION_WARPS) {
    int g = i / HEAD_SIZE, d = i % HEAD_SIZE;
    float highest = NOTHING;
    for (int s = 0; s < STATES; s++) highest = fmaxf(highest, most_of[g][s]);
    float total = 0.f, value = 0.f;
    for (int s = 0; s < STATES; s++) {
      float weight = power_of_two(most_of[g][s] - highest);
      total += sums_of[g][s] * weight;
      value += all[g][s][d] * weight;
    }
    if (item.whole) {
      out[((u64) item.token * HEADS + head + g) * HEAD_SIZE + d] = to_bf16(value / total);
    } else {
      u64 place = (u64) blockIdx.y * HEADS + head + g;
      partial[place * HEAD_SIZE + d] = value;
      if (d == 0) sums[place] = make_float2(highest, total);
    }
  }
}

// Joins the chunks of a sequence, in their order. Grid: the sequences, HEADS; HEAD_SIZE threads.
// A row is: which token asked, its first item, how many items it has.
extern "C" __global__ void kvasir_join(
    bf16 *out, const float *partial, const float2 *sums, const int4 *rows) {
  let_next_begin();
  wait_for_before();
  int4 row = rows[blockIdx.x];
  if (row.z < 2) return;
  int head = blockIdx.y, d = threadIdx.x;
  float highest = NOTHING;
  for (int i = 0; i < row.z; i++)
    highest = fmaxf(highest, sums[(u64) (row.y + i) * HEADS + head].x);
  float total = 0.f, value = 0.f;
  for (int i = 0; i < row.z; i++) {
    u64 place = (u64) (row.y + i) * HEADS + head;
    float weight = power_of_two(sums[place].x - highest);
    total += sums[place].y * weight;
    value += partial[place * HEAD_SIZE + d] * weight;
  }
  out[((u64) row.x * HEADS + head) * HEAD_SIZE + d] = to_bf16(value / total);
}
