// Chooses a token of each row of logits.
//
// A row's settings: the inverse of the temperature as a float, 0 for the likeliest token; the seed's
// two halves; the position. With a temperature, each logit gets a Gumbel noise that is a function of
// seed, position and token alone, and the highest wins: that draws from the softmax. Equal ones rank
// by token, lowest first; what is not a number never wins.
__device__ __forceinline__ u64 mix(u64 z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

// One block a row.
extern "C" __global__ void kvasir_sample(
    int *sampled, const float *logits, const int4 *settings) {
  const float *row = logits + (u64) blockIdx.x * VOCABULARY;
  int4 how = settings[blockIdx.x];
  float inverse = from_bits((u32) how.x);
  u64 seed = mix(mix((u64) (u32) how.y | (u64) (u32) how.z << 32) + (u64) how.w);
  float best = -3e38f;
  int token = VOCABULARY;
  for (int i = threadIdx.x; i < VOCABULARY; i += blockDim.x) {
    float value = row[i];
    if (inverse > 0.f) {
      u32 bits = (u32) (mix(seed + (u64) i) >> 40);
      float unit = ((float) bits + 0.5f) * (1.f / 16777216.f);
      value = value * inverse - logf(-logf(unit));
    }
    if (value > best || token == VOCABULARY && value == value) {
      best = value;
      token = i;
    }
  }
  __shared__ float bests[32];
  __shared__ int tokens[32];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    float other = __shfl_xor_sync(ALL_LANES, best, distance);
    int its = __shfl_xor_sync(ALL_LANES, token, distance);
    if (its < VOCABULARY
        && (token == VOCABULARY || other > best || other == best && its < token)) {
      best = other;
      token = its;
    }
  }
  if (threadIdx.x % 32 == 0) {
    bests[threadIdx.x / 32] = best;
    tokens[threadIdx.x / 32] = token;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < blockDim.x / 32; i++) {
    if (tokens[i] < VOCABULARY
        && (token == VOCABULARY || bests[i] > best || bests[i] == best && tokens[i] < token)) {
      best = bests[i];
      token = tokens[i];
    }
  }
  sampled[blockIdx.x] = token == VOCABULARY ? 0 : token;
}
