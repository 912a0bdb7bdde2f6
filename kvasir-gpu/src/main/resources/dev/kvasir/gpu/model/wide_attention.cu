// As prefill_attention.cu, with the matrix products of Hopper: four warps multiply together, and take
// the second matrix from shared memory.
//
// A block of 8 warps takes 128 queries of one head, each half 64 of them, and walks over the keys 128 at
// a time. Three tiles of keys and values are in shared memory: one is used, two are on their way, so
// that one barrier a tile suffices. While one half of the block computes a softmax, the other half
// keeps the tensor cores busy.
//
// A tile lies there in panels of 64 numbers: rows of 128 bytes, in which the pieces of 16 bytes change
// places by the row ("swizzle of 128 bytes"), as these products want it.
#ifdef WIDE_PRODUCTS
#define WIDE_QUERIES 128
#define WIDE_KEYS 128
#define WIDE_THREADS 256
#define WIDE_TILES 3
#define PANELS (HEAD_SIZE / 64)
#define PANEL_BYTES (WIDE_KEYS * 128)
#define WIDE_BYTES (PANELS * PANEL_BYTES)

// What a product is told of a matrix in shared memory: where it begins, how far it is to the next panel
// and to the next eight rows, in units of 16 bytes, and how its pieces are placed.
__device__ __forceinline__ u64 matrix_at(u32 address) {
  return (u64) ((address & 0x3ffff) >> 4) | (u64) (PANEL_BYTES >> 4) << 16 | (u64) (1024 >> 4) << 32
         | (u64) 1 << 62;
}

__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// Makes what this thread copied visible to the products.
__device__ __forceinline__ void copies_show() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// d (64 by 64) += a (64 by 16) * b, by four warps; b is 16 rows of numbers where ROWS is 1, else the
// numbers of a row lie along the sum.
template <int ROWS>
__device__ __forceinline__ void wide_multiply_add(float (&d)[32], const u32 (&a)[4], u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
      "{%32,%33,%34,%35}, %36, 1, 1, 1, %37;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(ROWS));
}

// d (64 by 128) += a (64 by 16) * b, by four warps; b is 16 rows of numbers where ROWS is 1, else the
// numbers of a row lie along the sum.
template <int ROWS>
__device__ __forceinline__ void wide_multiply_add(float (&d)[64], const u32 (&a)[4], u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "{%64,%65,%66,%67}, %68, 1, 1, 1, %69;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(ROWS));
}

// Keys and values of 128 positions; zeros behind the end.
__device__ __forceinline__ void load_wide(
    u32 keys, const char *kv, u64 block_bytes, const int *blocks, int first, int end) {
  const int PIECES = HEAD_SIZE / 8;
#pragma unroll
  for (int i = threadIdx.x; i < WIDE_KEYS * PIECES; i += WIDE_THREADS) {
    int row = i / PIECES, piece = i % PIECES;
    bool present = first + row < end;
    int position = present ? first + row : first;
    const char *from = kv + (u64) blocks[position / BLOCK_TOKENS] * block_bytes
                       + position % BLOCK_TOKENS * (HEAD_SIZE * 2) + piece * 16;
    u32 to = keys + piece / 8 * PANEL_BYTES + row * 128 + (piece % 8 ^ row % 8) * 16;
    copy_async_at(to, from, present);
    copy_async_at(to + WIDE_BYTES, from + HEAD_BYTES, present);
  }
  copies_commit();
}

// Grid: the tiles, HEADS. A tile is: its first token in the batch, how many it has, the position of
// the first, where its list of blocks begins.
extern "C" __global__ void __launch_bounds__(WIDE_THREADS, 1) kvasir_wide_attention(
    bf16 *out, const bf16 *qkv, const char *kv, u64 block_bytes, u64 layer_at, const int4 *tiles,
    const int *all_blocks, float scale) {
  // The swizzle goes by the address, so the tiles begin at a multiple of 1,024 bytes.
  u32 shared = shared_address(dynamic_shared) + 1023 & ~1023u;
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
  float o[HEAD_SIZE / 2];
#pragma unroll
  for (int i = 0; i < HEAD_SIZE / 2; i++) o[i] = 0.f;
  float most0 = -1e30f, most1 = -1e30f, sum0 = 0.f, sum1 = 0.f;
  float turn = scale * LOG2_E;
  int position0 = tile.z + row0, position1 = tile.z + row1;
  int half_first = tile.z + warp / 4 * 64, half_last = half_first + 63;
  int end = tile.z + tile.y;
  int rounds = (end + WIDE_KEYS - 1) / WIDE_KEYS;
  load_wide(shared, kv, block_bytes, blocks, 0, end);
  if (rounds > 1) load_wide(shared + 2 * WIDE_BYTES, kv, block_bytes, blocks, WIDE_KEYS, end);
  for (int round = 0; round < rounds; round++) {
    int first = round * WIDE_KEYS;
    if (round + 1 < rounds) copies_wait<1>();
    else copies_wait<0>();
    copies_show();
    // Behind it, everybody has the tile, and nobody needs the one before any more.
    __syncthreads();
    if (round + 2 < rounds)
      load_wide(shared + (round + 2) % WIDE_TILES * (2 * WIDE_BYTES), kv, block_bytes, blocks,
                first + 2 * WIDE_KEYS, end);
    if (first > half_last) continue;
    u32 keys = shared + round % WIDE_TILES * (2 * WIDE_BYTES), values = keys + WIDE_BYTES;
    float s[WIDE_KEYS / 2];
#pragma unroll
    for (int i = 0; i < WIDE_KEYS / 2; i++) s[i] = 0.f;
    products_begin();
#pragma unroll
    for (int k = 0; k < HEAD_SIZE / 16; k++)
      wide_multiply_add<0>(s, q[k], matrix_at(keys + k / 4 * PANEL_BYTES + k % 4 * 32));
    products_commit();
    products_wait();
    if (first + WIDE_KEYS - 1 > half_first) {
#pragma unroll
      for (int n = 0; n < WIDE_KEYS / 8; n++) {
        int at = first + n * 8 + column;
        if (at > position0) s[4 * n] = -1e30f;
        if (at + 1 > position0) s[4 * n + 1] = -1e30f;
        if (at > position1) s[4 * n + 2] = -1e30f;
        if (at + 1 > position1) s[4 * n + 3] = -1e30f;
      }
    }
    float high0 = most0, high1 = most1;
#pragma unroll
    for (int n = 0; n < WIDE_KEYS / 8; n++) {
      high0 = fmaxf(high0, fmaxf(s[4 * n], s[4 * n + 1]));
      high1 = fmaxf(high1, fmaxf(s[4 * n + 2], s[4 * n + 3]));
    }
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
      high0 = fmaxf(high0, __shfl_xor_sync(ALL_LANES, high0, distance));
      high1 = fmaxf(high1, __shfl_xor_sync(ALL_LANES, high1, distance));
    }
    float shrink0 = power_of_two((most0 - high0) * turn), shrink1 = power_of_two((most1 - high1) * turn);
    most0 = high0;
    most1 = high1;
    sum0 *= shrink0;
    sum1 *= shrink1;
    float base0 = -high0 * turn, base1 = -high1 * turn;
#pragma unroll
    for (int n = 0; n < WIDE_KEYS / 8; n++) {
      s[4 * n] = power_of_two(fmaf(s[4 * n], turn, base0));
      s[4 * n + 1] = power_of_two(fmaf(s[4 * n + 1], turn, base0));
      s[4 * n + 2] = power_of_two(fmaf(s[4 * n + 2], turn, base1));
      s[4 * n + 3] = power_of_two(fmaf(s[4 * n + 3], turn, base1));
      sum0 += s[4 * n] + s[4 * n + 1];
      sum1 += s[4 * n + 2] + s[4 * n + 3];
    }
#pragma unroll
    for (int n = 0; n < HEAD_SIZE / 8; n++) {
      o[4 * n] *= shrink0;
      o[4 * n + 1] *= shrink0;
      o[4 * n + 2] *= shrink1;
      o[4 * n + 3] *= shrink1;
    }
    u32 p[WIDE_KEYS / 16][4];
#pragma unroll
    for (int k = 0; k < WIDE_KEYS / 16; k++) {
      p[k][0] = pack_bf16(s[8 * k], s[8 * k + 1]);
      p[k][1] = pack_bf16(s[8 * k + 2], s[8 * k + 3]);
      p[k][2] = pack_bf16(s[8 * k + 4], s[8 * k + 5]);
      p[k][3] = pack_bf16(s[8 * k + 6], s[8 * k + 7]);
    }
    products_begin();
#pragma unroll
    for (int k = 0; k < WIDE_KEYS / 16; k++)
      wide_multiply_add<1>(o, p[k], matrix_at(values + k * 2048));
    products_commit();
    products_wait();
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
    if (row0 < tile.y) *(u32 *) (to + n * 8) = pack_bf16(o[4 * n] * share0, o[4 * n + 1] * share0);
    if (row1 < tile.y)
      *(u32 *) (to + 8 * HEADS * HEAD_SIZE + n * 8) =
          pack_bf16(o[4 * n + 2] * share1, o[4 * n + 3] * share1);
  }
}
#endif
