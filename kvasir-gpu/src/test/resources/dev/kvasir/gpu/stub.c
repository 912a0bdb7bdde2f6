// A stand-in for NVIDIA's driver library, for tests on machines without a GPU.
//
// Device memory is plain memory. A stream keeps what is put into it, and does one thing of it each
// time an event of it is queried: so nothing is there before somebody has asked often enough.
// Copies and kernels touch only memory that was allocated or registered; else the context is lost,
// as with the real one. Every function can be made to fail.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t word;
enum { OPS = 65536, SPANS = 4096, PARAMETERS = 5 };
enum { COPY, MARK, HOLD, MOVE, FILL, CHECK, SLOW_FILL, WAIT };

typedef struct { int kind; word to, from, bytes, rows, to_pitch, from_pitch, p[PARAMETERS]; } op;
typedef struct { op ops[OPS]; long first, next; } stream;
typedef struct { stream *of; long at; } event;
typedef struct { word at, bytes; int registered; } span;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static span spans[SPANS];
static int live[5], lost, held, devices = 2;
static word device_bytes = 1u << 30, device_used;
static char fail_symbol[64];
static int fail_error, fail_after = -1;

#define ENTER(symbol) \
  pthread_mutex_lock(&lock); \
  int error_ = lost ? lost : planned(symbol); \
  if (error_) { pthread_mutex_unlock(&lock); return error_; }
#define LEAVE(error) do { int e_ = (error); pthread_mutex_unlock(&lock); return e_; } while (0)

static int planned(const char *symbol) {
  if (fail_after < 0 || strcmp(symbol, fail_symbol)) return 0;
  if (fail_after-- > 0) return 0;
  if (fail_error >= 700) lost = fail_error;
  return fail_error;
}

void stub_fail(const char *symbol, int error, int after) {
  pthread_mutex_lock(&lock);
  strncpy(fail_symbol, symbol, sizeof fail_symbol - 1);
  fail_error = error;
  fail_after = after;
  pthread_mutex_unlock(&lock);
}
void stub_reset(void) { fail_after = -1; lost = 0; held = 0; devices = 2; }
void stub_devices(int count) { devices = count; }
void stub_hold(int on) { held = on; }
int stub_live(int kind) { return live[kind]; }

static int put(word at, word bytes, int registered) {
  for (int i = 0; i < SPANS; i++) {
    if (spans[i].bytes) continue;
    spans[i] = (span) {at, bytes, registered};
    return 0;
  }
  return 2;
}
static word drop(word at, int registered) {
  for (int i = 0; i < SPANS; i++) {
    if (spans[i].at != at || !spans[i].bytes || spans[i].registered != registered) continue;
    word bytes = spans[i].bytes;
    spans[i].bytes = 0;
    return bytes;
  }
  return 0;
}
static int known(word at, word bytes) {
  for (int i = 0; i < SPANS; i++)
    if (spans[i].bytes && at >= spans[i].at && at + bytes <= spans[i].at + spans[i].bytes) return 1;
  return 0;
}
static void copy(word to, word from, word bytes) {
  if (lost) return;
  if (!known(to, bytes) || !known(from, bytes)) { lost = 700; return; }
  memcpy((void *) to, (void *) from, bytes);
}
static word word_of(word seed, word i) {
  word v = (seed + i) * (word) -7046029254386353131;
  return (v ^ v >> 29) * (word) -4658895280553007687;
}
static void fill(word *at, word words, word seed) {
  if (!known((word) at, 8 * words)) lost = 700;
  for (word i = 0; i < words && !lost; i++) at[i] = word_of(seed, i);
}
static void check(word *at, word words, word seed, word *wrong) {
  if (!known((word) at, 8 * words)) lost = 700;
  for (word i = 0; i < words && !lost; i++) *wrong += at[i] != word_of(seed, i);
}
static word now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (word) t.tv_sec * 1000000000u + t.tv_nsec;
}
static void work(stream *s) {
  if (s->first == s->next) return;
  op *o = &s->ops[s->first % OPS];
  if (o->kind == HOLD && held) return;
  if (o->kind == WAIT && ((stream *) o->p[0])->first < (long) o->p[1]) {
    work((stream *) o->p[0]);
    return;
  }
  if (o->kind == SLOW_FILL) {
    if (!o->p[4]) o->p[4] = now();
    if (now() - o->p[4] < o->p[3]) return;
  }
  s->first++;
  if (o->kind == COPY)
    for (word r = 0; r < o->rows; r++)
      copy(o->to + r * o->to_pitch, o->from + r * o->from_pitch, o->bytes);
  if (o->kind == MOVE)
    for (word i = 0; i < o->p[1] / o->p[2]; i++)
      copy(((word *) o->p[0])[2 * i + 1], ((word *) o->p[0])[2 * i], o->p[4]);
  if (o->kind == FILL || o->kind == SLOW_FILL) fill((word *) o->p[0], o->p[1], o->p[2]);
  if (o->kind == CHECK) check((word *) o->p[0], o->p[1], o->p[2], (word *) o->p[3]);
}
static op *add(stream *s, int kind) {
  while (s->next - s->first >= OPS) work(s);
  op *o = &s->ops[s->next++ % OPS];
  memset(o, 0, sizeof *o);
  o->kind = kind;
  return o;
}
static void add_copy(stream *s, word to, word from, word bytes) {
  op *o = add(s, COPY);
  o->to = to; o->from = from; o->bytes = bytes; o->rows = 1;
}

int cuInit(unsigned f) { ENTER("cuInit"); LEAVE(0); }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuGetErrorName(int e, const char **p) { *p = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_STUB"; return 0; }
int cuGetErrorString(int e, const char **p) { *p = e == 2 ? "out of memory" : "as the test wants"; return 0; }
int cuDeviceGetCount(int *n) { ENTER("cuDeviceGetCount"); *n = devices; LEAVE(0); }
int cuDeviceGet(int *d, int i) { *d = i + 10; return i < devices ? 0 : 101; }
int cuDeviceGetName(char *n, int l, int d) { strncpy(n, "Stub", l); return 0; }
int cuDeviceTotalMem_v2(word *b, int d) { *b = device_bytes; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = 4; return 0; }
int cuDevicePrimaryCtxRetain(word *c, int d) { ENTER("cuDevicePrimaryCtxRetain"); *c = d; LEAVE(0); }
int cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
int cuCtxSetCurrent(word c) { return 0; }
int cuCtxGetStreamPriorityRange(int *l, int *g) { *l = 0; *g = -5; return 0; }
int cuMemGetInfo_v2(word *f, word *t) { *f = device_bytes - device_used; *t = device_bytes; return 0; }
int cuMemAlloc_v2(word *at, word bytes) {
  ENTER("cuMemAlloc_v2");
  if (device_used + bytes > device_bytes) LEAVE(2);
  void *memory = NULL;
  if (posix_memalign(&memory, 256, bytes)) LEAVE(2);
  memset(memory, 0xEE, bytes);
  *at = (word) memory;
  device_used += bytes;
  live[0]++;
  LEAVE(put(*at, bytes, 0));
}
int cuMemFree_v2(word at) {
  ENTER("cuMemFree_v2");
  word bytes = drop(at, 0);
  if (!bytes) LEAVE(1);
  device_used -= bytes;
  live[0]--;
  free((void *) at);
  LEAVE(0);
}
int cuMemHostRegister_v2(word at, word bytes, unsigned f) {
  ENTER("cuMemHostRegister_v2");
  for (int i = 0; i < SPANS; i++)
    if (spans[i].bytes && spans[i].registered && at < spans[i].at + spans[i].bytes
        && spans[i].at < at + bytes) LEAVE(712);
  live[1]++;
  LEAVE(put(at, bytes, 1));
}
int cuMemHostUnregister(word at) {
  ENTER("cuMemHostUnregister");
  if (!drop(at, 1)) LEAVE(713);
  live[1]--;
  LEAVE(0);
}
int cuMemHostGetDevicePointer_v2(word *p, word at, unsigned f) { *p = at; return known(at, 1) ? 0 : 1; }
int cuStreamCreateWithPriority(word *s, unsigned f, int p) {
  ENTER("cuStreamCreateWithPriority");
  *s = (word) calloc(1, sizeof(stream));
  live[2]++;
  LEAVE(0);
}
int cuStreamDestroy_v2(word s) { ENTER("cuStreamDestroy_v2"); live[2]--; free((void *) s); LEAVE(0); }
int cuStreamSynchronize(word h) {
  ENTER("cuStreamSynchronize");
  stream *s = (stream *) h;
  while (s->first < s->next && !lost) work(s);
  LEAVE(lost);
}
int cuStreamWaitEvent(word s, word h, unsigned f) {
  ENTER("cuStreamWaitEvent");
  event *e = (event *) h;
  if (!e->of) LEAVE(0);
  op *o = add((stream *) s, WAIT);
  o->p[0] = (word) e->of;
  o->p[1] = e->at;
  LEAVE(0);
}
int cuEventCreate(word *e, unsigned f) {
  ENTER("cuEventCreate");
  *e = (word) calloc(1, sizeof(event));
  live[3]++;
  LEAVE(0);
}
int cuEventDestroy_v2(word e) { ENTER("cuEventDestroy_v2"); live[3]--; free((void *) e); LEAVE(0); }
int cuEventRecord(word h, word s) {
  ENTER("cuEventRecord");
  event *e = (event *) h;
  e->of = (stream *) s;
  add(e->of, MARK);
  e->at = e->of->next;
  LEAVE(0);
}
int cuEventQuery(word h) {
  ENTER("cuEventQuery");
  event *e = (event *) h;
  if (!e->of || e->of->first >= e->at) LEAVE(0);
  work(e->of);
  LEAVE(lost ? lost : 600);
}
int cuEventElapsedTime(float *m, word a, word b) { *m = 1; return 0; }
int cuMemcpyDtoHAsync_v2(word to, word from, word bytes, word s) {
  ENTER("cuMemcpyDtoHAsync_v2"); add_copy((stream *) s, to, from, bytes); LEAVE(0);
}
int cuMemcpyHtoDAsync_v2(word to, word from, word bytes, word s) {
  ENTER("cuMemcpyHtoDAsync_v2"); add_copy((stream *) s, to, from, bytes); LEAVE(0);
}
typedef struct { word x, y, type, host, device, array, pitch; } side;
typedef struct { side from, to; word bytes, rows; } pitched;
int cuMemcpy2DAsync_v2(const pitched *c, word s) {
  ENTER("cuMemcpy2DAsync_v2");
  op *o = add((stream *) s, COPY);
  o->from = (int) c->from.type == 1 ? c->from.host : c->from.device;
  o->to = (int) c->to.type == 1 ? c->to.host : c->to.device;
  o->from_pitch = c->from.pitch;
  o->to_pitch = c->to.pitch;
  o->bytes = c->bytes;
  o->rows = c->rows;
  LEAVE(c->bytes > c->from.pitch || c->bytes > c->to.pitch ? 1 : 0);
}
int cuModuleLoadDataEx(word *m, const char *text, unsigned n, void *k, void *v) {
  ENTER("cuModuleLoadDataEx");
  *m = 77;
  live[4]++;
  LEAVE(strstr(text, ".visible .entry ") ? 0 : 218);
}
int cuModuleGetFunction(word *f, word m, const char *name) {
  *f = !strcmp(name, "kvasir_move") ? MOVE : !strcmp(name, "check") ? CHECK
      : !strcmp(name, "fill") ? FILL : !strcmp(name, "slow_fill") ? SLOW_FILL : MARK;
  return 0;
}
int cuModuleUnload(word m) { ENTER("cuModuleUnload"); live[4]--; LEAVE(0); }
int cuLaunchKernel(word f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
    unsigned bz, unsigned shared, word s, word **p, void **extra) {
  ENTER("cuLaunchKernel");
  op *o = add((stream *) s, (int) f);
  for (int i = 0; i < PARAMETERS; i++) o->p[i] = *p[i];
  if (f == SLOW_FILL) o->p[4] = 0;
  if (f == MOVE && !known(o->p[0], 16 * (o->p[1] / o->p[2]))) lost = 700;
  LEAVE(gx * bx == 0 || bx > 1024 ? 1 : 0);
}
/** For tests: what follows in the stream waits while stub_hold(1). */
int stub_barrier(word s) { pthread_mutex_lock(&lock); add((stream *) s, HOLD); LEAVE(0); }
#ifndef OLD
int cuMemcpyBatchAsync_v2(word *to, word *from, word *bytes, word n, void *a, word *i, word an, word s) {
  ENTER("cuMemcpyBatchAsync_v2");
  for (word k = 0; k < n; k++) add_copy((stream *) s, to[k], from[k], bytes[k]);
  LEAVE(an == 1 && i[0] == 0 && ((int *) a)[0] == 1 ? 0 : 1);
}
#endif
