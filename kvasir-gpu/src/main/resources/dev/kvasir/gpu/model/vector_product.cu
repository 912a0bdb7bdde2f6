// Products of a matrix with one or two rows, where reading the matrix is all that takes time.
//
// A warp takes two rows of the matrix and reads them 16 bytes a lane, several loads ahead of the
// sums. What comes before (normalization) and behind (adding, gating) is done on the way, so that a
// layer needs few kernels.
#define PRODUCT_WARPS 8
#define AHEAD 4
enum Result { STORE_BF16, STORE_FLOAT, ADD_FLOAT, GATE };

template <int ROWS, bool NORMALIZE, int RESULT>
__device__ __forceinline__ void vector_product(
    void *out, const void *input, const float *norm, const bf16 *matrix, int depth, int outputs) {
  DYNAMIC_SHARED(bf16, row);
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
  int lane = threadIdx.x % 32;
  int unit = blockIdx.x * PRODUCT_WARPS + threadIdx.x / 32;
  int first = RESULT == GATE ? unit : 2 * unit;
  int second = RESULT == GATE ? unit + outputs : 2 * unit + 1;
  if (first >= outputs) return;
  const bf16 *w0 = matrix + (u64) first * depth, *w1 = matrix + (u64) second * depth;
  float sum[2][ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) sum[0][r] = sum[1][r] = 0.f;
  int base = lane * 8;
  for (; base + 256 * (AHEAD - 1) < depth; base += 256 * AHEAD) {
    uint4 a[AHEAD], b[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      a[i] = load_once((const uint4 *) (w0 + base + 256 * i));
      b[i] = load_once((const uint4 *) (w1 + base + 256 * i));
    }
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      float x0[8], x1[8], y[8];
      unpack(x0, a[i]);
      unpack(x1, b[i]);
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        unpack(y, *(const uint4 *) (row + r * depth + base + 256 * i));
#pragma unroll
        for (int j = 0; j < 8; j++) {
          sum[0][r] += x0[j] * y[j];
          sum[1][r] += x1[j] * y[j];
        }
      }
    }
  }
  for (; base < depth; base += 256) {
    float x0[8], x1[8], y[8];
    unpack(x0, load_once((const uint4 *) (w0 + base)));
    unpack(x1, load_once((const uint4 *) (w1 + base)));
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      unpack(y, *(const uint4 *) (row + r * depth + base));
#pragma unroll
      for (int j = 0; j < 8; j++) {
        sum[0][r] += x0[j] * y[j];
        sum[1][r] += x1[j] * y[j];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    float s0 = warp_sum(sum[0][r]), s1 = warp_sum(sum[1][r]);
    if (lane != 0) continue;
    u64 at = (u64) r * outputs + first;
    if (RESULT == STORE_BF16) *(u32 *) ((bf16 *) out + at) = pack_bf16(s0, s1);
    if (RESULT == STORE_FLOAT) *(float2 *) ((float *) out + at) = make_float2(s0, s1);
    if (RESULT == ADD_FLOAT) {
      float2 old = *(float2 *) ((float *) out + at);
      *(float2 *) ((float *) out + at) = make_float2(old.x + s0, old.y + s1);
    }
    if (RESULT == GATE)
      ((bf16 *) out)[at] = to_bf16(s0 / (1.f + power_of_two(-s0 * LOG2_E)) * s1);
  }
}

// Outputs are even in number. A grid has outputs / 16 blocks, rounded up; for the gate, / 8.
#define VECTOR_PRODUCT(name, rows, normalize, result)                                         \
  extern "C" __global__ void __launch_bounds__(32 * PRODUCT_WARPS) name(                      \
      void *out, const void *input, const float *norm, const bf16 *matrix, int depth,         \
      int outputs) {                                                                          \
    vector_product<rows, normalize, result>(out, input, norm, matrix, depth, outputs);        \
  }
VECTOR_PRODUCT(kvasir_product_norm_1, 1, true, STORE_BF16)
VECTOR_PRODUCT(kvasir_product_norm_2, 2, true, STORE_BF16)
VECTOR_PRODUCT(kvasir_product_gate_1, 1, true, GATE)
VECTOR_PRODUCT(kvasir_product_gate_2, 2, true, GATE)
VECTOR_PRODUCT(kvasir_product_add_1, 1, false, ADD_FLOAT)
VECTOR_PRODUCT(kvasir_product_add_2, 2, false, ADD_FLOAT)
VECTOR_PRODUCT(kvasir_product_float_1, 1, false, STORE_FLOAT)
VECTOR_PRODUCT(kvasir_product_float_2, 2, false, STORE_FLOAT)
