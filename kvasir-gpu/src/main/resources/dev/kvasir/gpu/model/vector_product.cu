// Products of a matrix with one or two rows, where reading the matrix is all that takes time.
//
// A warp takes two rows of the matrix and reads them 16 bytes a lane; the next loads are on their
// way while the last ones are summed. What comes before (normalization) and behind (adding, gating)
// is done on the way, so that a layer needs few kernels; the grid is about as large as the GPU, so
// that what comes before is done once for many rows.
//
// The matrix is there before the kernel is: where a kernel begins early, it reads the first pieces
// while the one before it still runs. AHEAD, a macro, is how many pieces are on their way.
#define PRODUCT_WARPS 8
enum Result { STORE_BF16, STORE_FLOAT, ADD_FLOAT, GATE, TURN };

// The rows of the matrix that a warp takes together: those of a gate, of a pair that a position
// turns, or neighbours.
struct Rows {
  int first, second;
};
template <int RESULT>
__device__ __forceinline__ Rows rows_of(int unit, int outputs) {
  if (RESULT == GATE) return {unit, unit + outputs};
  if (RESULT == TURN) {
    int head = unit / (HEAD_SIZE / 2) * HEAD_SIZE, i = unit % (HEAD_SIZE / 2);
    return {head + pair_first(i), head + pair_second(i)};
  }
  return {2 * unit, 2 * unit + 1};
}

// Two numbers of a token's queries, keys or values: as they are stored before they are turned,
// turned, and put where they belong.
__device__ __forceinline__ void store_turned(
    const Turn &turn, bf16 *qkv, int token, Rows rows, float x, float y) {
  int position = turn.positions[token];
  if (position < 0) return;
  int head = rows.first / HEAD_SIZE, first = rows.first % HEAD_SIZE, second = rows.second % HEAD_SIZE;
  bf16 *to = turned_place(turn, qkv, token, head, position);
  x = to_float(to_bf16(x));
  y = to_float(to_bf16(y));
  if (HAS_BIAS) {
    x += turn.bias[rows.first];
    y += turn.bias[rows.second];
  }
  if (head < HEADS + KV_HEADS) turn_pair(turn, x, y, NEIGHBOURS ? first / 2 : first, position);
  to[first] = to_bf16(x);
  to[second] = to_bf16(y);
}

// The next pieces of two rows; zeros behind their end.
__device__ __forceinline__ void load_rows(
    uint4 (&a)[AHEAD], uint4 (&b)[AHEAD], const bf16 *w0, const bf16 *w1, int at, int depth) {
#pragma unroll
  for (int i = 0; i < AHEAD; i++) {
    bool inside = at + 256 * i < depth;
    a[i] = inside ? load_once((const uint4 *) (w0 + at + 256 * i)) : make_uint4(0, 0, 0, 0);
    b[i] = inside ? load_once((const uint4 *) (w1 + at + 256 * i)) : make_uint4(0, 0, 0, 0);
  }
}

template <int ROWS, bool NORMALIZE, int RESULT>
__device__ __forceinline__ void vector_product(
    void *out, const void *input, const float *norm, const bf16 *matrix, int depth, int outputs,
    const Turn &turn) {
  DYNAMIC_SHARED(bf16, row);
  int lane = threadIdx.x % 32;
  int units = RESULT == GATE ? outputs : outputs / 2, stride = gridDim.x * PRODUCT_WARPS;
  // Along the grid first, so that each processor has a part of the last round.
  int unit = threadIdx.x / 32 * gridDim.x + blockIdx.x;
  uint4 a[AHEAD], b[AHEAD];
  if (unit < units) {
    Rows rows = rows_of<RESULT>(unit, outputs);
    const bf16 *w0 = matrix + (u64) rows.first * depth, *w1 = matrix + (u64) rows.second * depth;
    load_rows(a, b, w0, w1, lane * 8, depth);
  }
  let_next_begin();
  wait_for_before();
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    bf16 *to = row + r * depth;
    if (NORMALIZE) {
      const float *from = (const float *) input + (u64) r * depth;
      float squares = 0.f;
      for (int i = threadIdx.x * 4; i < depth; i += blockDim.x * 4) {
        float4 v = *(const float4 *) (from + i);
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
      }
      float scale = rsqrtf(block_sum(squares) / depth + EPSILON);
      for (int i = threadIdx.x * 4; i < depth; i += blockDim.x * 4) {
        float4 v = *(const float4 *) (from + i);
        float4 w = *(const float4 *) (norm + i);
        *(uint2 *) (to + i) =
            make_uint2(pack_bf16(v.x * scale * w.x, v.y * scale * w.y),
                       pack_bf16(v.z * scale * w.z, v.w * scale * w.w));
      }
    } else {
      const bf16 *from = (const bf16 *) input + (u64) r * depth;
      for (int i = threadIdx.x * 8; i < depth; i += blockDim.x * 8)
        *(uint4 *) (to + i) = *(const uint4 *) (from + i);
    }
  }
  __syncthreads();
  for (; unit < units; unit += stride) {
    Rows rows = rows_of<RESULT>(unit, outputs);
    const bf16 *w0 = matrix + (u64) rows.first * depth, *w1 = matrix + (u64) rows.second * depth;
    float sum[2][ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) sum[0][r] = sum[1][r] = 0.f;
    for (int at = lane * 8; at < depth; at += 256 * AHEAD) {
      uint4 next_a[AHEAD], next_b[AHEAD];
      load_rows(next_a, next_b, w0, w1, at + 256 * AHEAD, depth);
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        float x0[8], x1[8], y[8];
        unpack(x0, a[i]);
        unpack(x1, b[i]);
        int from = at + 256 * i < depth ? at + 256 * i : at;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          unpack(y, *(const uint4 *) (row + r * depth + from));
#pragma unroll
          for (int j = 0; j < 8; j++) {
            sum[0][r] += x0[j] * y[j];
            sum[1][r] += x1[j] * y[j];
          }
        }
      }
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        a[i] = next_a[i];
        b[i] = next_b[i];
      }
    }
    // The first pieces of the next rows, while these are summed up.
    if (unit + stride < units) {
      Rows next = rows_of<RESULT>(unit + stride, outputs);
      load_rows(a, b, matrix + (u64) next.first * depth, matrix + (u64) next.second * depth,
                lane * 8, depth);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      float s0 = warp_sum(sum[0][r]), s1 = warp_sum(sum[1][r]);
      if (lane != 0) continue;
      u64 to = (u64) r * outputs + rows.first;
      if (RESULT == STORE_BF16) *(u32 *) ((bf16 *) out + to) = pack_bf16(s0, s1);
      if (RESULT == STORE_FLOAT) *(float2 *) ((float *) out + to) = make_float2(s0, s1);
      if (RESULT == ADD_FLOAT) {
        float2 old = *(float2 *) ((float *) out + to);
        *(float2 *) ((float *) out + to) = make_float2(old.x + s0, old.y + s1);
      }
      if (RESULT == GATE)
        ((bf16 *) out)[to] = to_bf16(s0 / (1.f + power_of_two(-s0 * LOG2_E)) * s1);
      if (RESULT == TURN) store_turned(turn, (bf16 *) out, r, rows, s0, s1);
    }
  }
}

// Outputs are even in number; any grid will do.
#define VECTOR_PRODUCT(name, rows, normalize, result)                                         \
  extern "C" __global__ void __launch_bounds__(32 * PRODUCT_WARPS, 3) name(                   \
      void *out, const void *input, const float *norm, const bf16 *matrix, int depth,         \
      int outputs) {                                                                          \
    vector_product<rows, normalize, result>(                                                  \
        out, input, norm, matrix, depth, outputs, Turn());                                    \
  }
VECTOR_PRODUCT(kvasir_product_norm_1, 1, true, STORE_BF16)
VECTOR_PRODUCT(kvasir_product_norm_2, 2, true, STORE_BF16)
VECTOR_PRODUCT(kvasir_product_gate_1, 1, true, GATE)
VECTOR_PRODUCT(kvasir_product_gate_2, 2, true, GATE)
VECTOR_PRODUCT(kvasir_product_add_1, 1, false, ADD_FLOAT)
VECTOR_PRODUCT(kvasir_product_add_2, 2, false, ADD_FLOAT)
VECTOR_PRODUCT(kvasir_product_float_1, 1, false, STORE_FLOAT)
VECTOR_PRODUCT(kvasir_product_float_2, 2, false, STORE_FLOAT)

// Queries, keys and values of whole heads, where their numbers are not normalized by head.
#define TURNED_PRODUCT(name, rows)                                                            \
  extern "C" __global__ void __launch_bounds__(32 * PRODUCT_WARPS, 3) name(                   \
      void *out, const void *input, const float *norm, const bf16 *matrix, int depth,         \
      int outputs, const float *bias, const float *cosines, const float *sines,               \
      const int *positions, const int *block_starts, const int *blocks, char *kv,             \
      u64 block_bytes, u64 layer_at) {                                                        \
    Turn turn = {bias, cosines, sines, positions, block_starts, blocks, kv, block_bytes,      \
                 layer_at};                                                                   \
    vector_product<rows, true, TURN>(                                                         \
        out, input, norm, matrix, depth, outputs, turn);                                      \
  }
TURNED_PRODUCT(kvasir_product_turned_1, 1)
TURNED_PRODUCT(kvasir_product_turned_2, 2)
