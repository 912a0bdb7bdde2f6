// Many queries of one sequence attend to what stands before them, on the tensor cores.
//
// A block of 4 warps takes 64 queries of one head, each warp 16 of them, and walks over the keys 64
// at a time: scores, a running softmax, and the sum of the values stay in registers, while the next
// keys and values are on their way to shared memory. Rows there are 16 bytes longer than a head, so
// that eight of them lie in different banks.
#define QUERIES 64
#define KEYS 64
#define STRIDE (HEAD_SIZE + 8)
#define PREFILL_THREADS 128

// Keys and values of 64 positions; zeros behind the end.
__device__ __forceinline__ void load_keys(
    bf16 *keys, bf16 *values, const char *kv, u64 block_bytes, const int *blocks, int first,
    int end) {
  const int CHUNKS = HEAD_SIZE / 8;
  for (int i = threadIdx.x; i < KEYS * CHUNKS; i += PREFILL_THREADS) {
    int row = i / CHUNKS, chunk = i % CHUNKS;
    bool present = first + row < end;
    int position = present ? first + row : first;
    const char *from = kv + (u64) blocks[position / BLOCK_TOKENS] * block_bytes
                       + position % BLOCK_TOKENS * (HEAD_SIZE * 2) + chunk * 16;
    copy_async(keys + row * STRIDE + chunk * 8, from, present);
    copy_async(values + row * STRIDE + chunk * 8, from + HEAD_BYTES, present);
  }
}

// Grid: the tiles, HEADS. A tile is: its first token in the batch, how many it has, the position of
// the first, where its list of blocks begins.
extern "C" __global__ void __launch_bounds__(PREFILL_THREADS) kvasir_prefill_attention(
    bf16 *out, const bf16 *qkv, const char *kv, u64 block_bytes, u64 layer_at, const int4 *tiles,
    const int *all_blocks, float scale) {
  DYNAMIC_SHARED(bf16, shared);
  int4 tile = tiles[blockIdx.x];
  int head = blockIdx.y;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int *blocks = all_blocks + tile.w;
  kv += layer_at + head / GROUP * (2 * HEAD_BYTES);
  int row0 = warp * 16 + lane / 4, row1 = row0 + 8, column = lane % 4 * 2;
  u32 q[HEAD_SIZE / 16][4];
#pragma unroll
  for (int k = 0; k < HEAD_SIZE / 16; k++) {
    const bf16 *at = qkv + (u64) (tile.x + row0) * QKV_WIDTH + head * HEAD_SIZE + k * 16 + column;
    const bf16 *below = at + 8 * QKV_WIDTH;
    q[k][0] = row0 < tile.y ? *(const u32 *) at : 0;
    q[k][1] = row1 < tile.y ? *(const u32 *) below : 0;
    q[k][2] = row0 < tile.y ? *(const u32 *) (at + 8) : 0;
    q[k][3] = row1 < tile.y ? *(const u32 *) (below + 8) : 0;
  }
  float o[HEAD_SIZE / 8][4];
#pragma unroll
  for (int n = 0; n < HEAD_SIZE / 8; n++) o[n][0] = o[n][1] = o[n][2] = o[n][3] = 0.f;
  float most0 = -1e30f, most1 = -1e30f, sum0 = 0.f, sum1 = 0.f;
  int position0 = tile.z + row0, position1 = tile.z + row1;
  int warp_first = tile.z + warp * 16, warp_last = warp_first + 15;
  int end = tile.z + tile.y;
  int rounds = (end + KEYS - 1) / KEYS;
  load_keys(shared, shared + KEYS * STRIDE, kv, block_bytes, blocks, 0, end);
  copies_commit();
  for (int round = 0; round < rounds; round++) {
    int first = round * KEYS;
    if (round + 1 < rounds) {
      bf16 *next = shared + (round + 1) % 2 * (2 * KEYS * STRIDE);
      load_keys(next, next + KEYS * STRIDE, kv, block_bytes, blocks, first + KEYS, end);
      copies_commit();
      copies_wait<1>();
    } else {
      copies_wait<0>();
    }
    __syncthreads();
    const bf16 *k_tile = shared + round % 2 * (2 * KEYS * STRIDE), *v_tile = k_tile + KEYS * STRIDE;
    if (first <= warp_last) {
      float s[KEYS / 8][4];
#pragma unroll
      for (int n = 0; n < KEYS / 8; n++) {
        s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0.f;
#pragma unroll
        for (int k = 0; k < HEAD_SIZE / 32; k++) {
          u32 b[4];
          load_matrices(b, k_tile + (n * 8 + lane % 8) * STRIDE + k * 32 + lane / 8 * 8);
          multiply_add(s[n], q[2 * k], b[0], b[1]);
          multiply_add(s[n], q[2 * k + 1], b[2], b[3]);
        }
      }
      float high0 = most0, high1 = most1;
#pragma unroll
      for (int n = 0; n < KEYS / 8; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) s[n][i] *= scale * LOG2_E;
        if (first + KEYS - 1 > warp_first) {
          int at = first + n * 8 + column;
          if (at > position0) s[n][0] = -1e30f;
          if (at + 1 > position0) s[n][1] = -1e30f;
          if (at > position1) s[n][2] = -1e30f;
          if (at + 1 > position1) s[n][3] = -1e30f;
        }
        high0 = fmaxf(high0, fmaxf(s[n][0], s[n][1]));
        high1 = fmaxf(high1, fmaxf(s[n][2], s[n][3]));
      }
#pragma unroll
      for (int distance = 1; distance < 4; distance *= 2) {
        high0 = fmaxf(high0, __shfl_xor_sync(ALL_LANES, high0, distance));
        high1 = fmaxf(high1, __shfl_xor_sync(ALL_LANES, high1, distance));
      }
      float shrink0 = power_of_two(most0 - high0), shrink1 = power_of_two(most1 - high1);
      most0 = high0;
      most1 = high1;
      sum0 *= shrink0;
      sum1 *= shrink1;
#pragma unroll
      for (int n = 0; n < HEAD_SIZE / 8; n++) {
        o[n][0] *= shrink0;
        o[n][1] *= shrink0;
        o[n][2] *= shrink1;
        o[n][3] *= shrink1;
      }
#pragma unroll
      for (int n = 0; n < KEYS / 8; n++) {
        s[n][0] = power_of_two(s[n][0] - high0);
        s[n][1] = power_of_two(s[n][1] - high0);
        s[n][2] = power_of_two(s[n][2] - high1);
        s[n][3] = power_of_two(s[n][3] - high1);
        sum0 += s[n][0] + s[n][1];
        sum1 += s[n][2] + s[n][3];
      }
#pragma unroll
      for (int k = 0; k < KEYS / 16; k++) {
        u32 a[4] = {pack_bf16(s[2 * k][0], s[2 * k][1]), pack_bf16(s[2 * k][2], s[2 * k][3]),
                    pack_bf16(s[2 * k + 1][0], s[2 * k + 1][1]),
                    pack_bf16(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
        for (int n = 0; n < HEAD_SIZE / 16; n++) {
          u32 b[4];
          load_matrices_transposed(
              b, v_tile + (k * 16 + lane % 16) * STRIDE + n * 16 + lane / 16 * 8);
          multiply_add(o[2 * n], a, b[0], b[1]);
          multiply_add(o[2 * n + 1], a, b[2], b[3]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    sum0 += __shfl_xor_sync(ALL_LANES, sum0, distance);
    sum1 += __shfl_xor_sync(ALL_LANES, sum1, distance);
  }
  float share0 = 1.f / sum0, share1 = 1.f / sum1;
  bf16 *to = out + ((u64) (tile.x + row0) * HEADS + head) * HEAD_SIZE + column;
#pragma unroll
  for (int n = 0; n < HEAD_SIZE / 8; n++) {
    if (row0 < tile.y) *(u32 *) (to + n * 8) = pack_bf16(o[n][0] * share0, o[n][1] * share0);
    if (row1 < tile.y)
      *(u32 *) (to + 8 * HEADS * HEAD_SIZE + n * 8) =
          pack_bf16(o[n][2] * share1, o[n][3] * share1);
  }
}
