// A stand-in for NVIDIA's driver library, for tests on machines without a GPU.
//
// Device memory is plain memory. A stream keeps what is put into it, and does one thing of it each
// time an event of it is queried: so nothing is there before somebody has asked often enough.
// Copies and kernels touch only memory that was allocated or registered; else the context is lost,
// as with the real one. Every function can be made to fail.
//
// Kernels given as CUDA text are compiled for the processor and run there (emulate.h); the matrix
// library multiplies one number after the other. So a whole model can compute here, slowly.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t word;
enum { OPS = 65536, SPANS = 4096, PARAMETERS = 5, WORDS = 16, GRAPH_OPS = 4096 };
enum { COPY, MARK, HOLD, MOVE, FILL, CHECK, SLOW_FILL, WAIT, ZERO, KERNEL, PRODUCT };

typedef struct { int kind; word to, from, bytes, rows, to_pitch, from_pitch, p[WORDS]; } op;
typedef struct { op ops[GRAPH_OPS]; long count; } graph;
typedef struct { op ops[OPS]; long first, next; graph *capturing; } stream;
typedef struct { word function; char name[64]; void *launch; } kernel;
typedef struct { int type; word rows, columns, stride; } layout;
typedef struct { stream *of; long at; } event;
typedef struct { word at, bytes; int registered; } span;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static span spans[SPANS];
static int live[6], lost, held, resting, doomed, devices = 2;
static word device_bytes = 1u << 30, device_used;
static char fail_symbol[64], emulator[512];
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
static void forget(void);
void stub_doom(void) { doomed = 1; }
void stub_reset(void) { if (doomed) forget(); doomed = 0; fail_after = -1; lost = 0; held = 0; resting = 0; devices = 2; }
void stub_rest(int on) { resting = on; }
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
static float from_bf16(uint16_t v) { uint32_t b = (uint32_t) v << 16; float f; memcpy(&f, &b, 4); return f; }
static uint16_t to_bf16(float f) { uint32_t b; memcpy(&b, &f, 4); return (b + 0x7fff + (b >> 16 & 1)) >> 16; }
static void product(const op *o) {
  word rows = o->p[0], outputs = o->p[1], depth = o->p[2];
  int type = o->p[3], adds = o->p[4];
  const uint16_t *matrix = (uint16_t *) o->p[5], *input = (uint16_t *) o->p[6];
  if (!known(o->p[5], 2 * outputs * depth) || !known(o->p[6], 2 * rows * depth)
      || !known(o->p[7], (type ? 2 : 4) * rows * outputs)) { lost = 700; return; }
  float *a = malloc(depth * sizeof(float)), *x = malloc(rows * depth * sizeof(float));
  for (word i = 0; i < rows * depth; i++) x[i] = from_bf16(input[i]);
  for (word n = 0; n < outputs; n++) {
    for (word k = 0; k < depth; k++) a[k] = from_bf16(matrix[n * depth + k]);
    for (word r = 0; r < rows; r++) {
      float sum = 0;
      for (word k = 0; k < depth; k++) sum += a[k] * x[r * depth + k];
      if (type) ((uint16_t *) o->p[7])[r * outputs + n] = to_bf16(sum);
      else if (adds) ((float *) o->p[7])[r * outputs + n] += sum;
      else ((float *) o->p[7])[r * outputs + n] = sum;
    }
  }
  free(a);
  free(x);
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
  if (o->kind == ZERO && !known(o->to, o->bytes)) lost = 700;
  if (o->kind == ZERO && !lost) memset((void *) o->to, 0, o->bytes);
  if (o->kind == PRODUCT && !lost && !resting) product(o);
  if (o->kind == KERNEL && !lost && !resting)
    ((void (*)(word, int, int, int, int, word *)) o->from)(
        o->to, o->bytes, o->rows, o->to_pitch, o->from_pitch, o->p);
  if (o->kind == CHECK) check((word *) o->p[0], o->p[1], o->p[2], (word *) o->p[3]);
}
static op *add(stream *s, int kind) {
  if (s->capturing) {
    op *o = &s->capturing->ops[s->capturing->count++];
    if (s->capturing->count == GRAPH_OPS) abort();
    memset(o, 0, sizeof *o);
    o->kind = kind;
    return o;
  }
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
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 8 : a == 76 ? 0 : 4; return 0; }
int cuDevicePrimaryCtxRetain(word *c, int d) { ENTER("cuDevicePrimaryCtxRetain"); *c = d; LEAVE(0); }
int cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
/** All that was taken goes with the context, and so does what was wrong with it. */
int cuDevicePrimaryCtxReset_v2(int d) {
  pthread_mutex_lock(&lock);
  forget();
  if (!doomed) lost = 0;
  pthread_mutex_unlock(&lock);
  return 0;
}
static void forget(void) {
  for (int i = 0; i < SPANS; i++) spans[i].bytes = 0;
  for (int i = 0; i < 6; i++) live[i] = 0;
  device_used = 0;
}
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
int cuEventSynchronize(word h) {
  ENTER("cuEventSynchronize");
  event *e = (event *) h;
  while (e->of && e->of->first < e->at && !lost && !held) work(e->of);
  LEAVE(lost);
}
int cuMemsetD8Async(word to, int value, word bytes, word s) {
  ENTER("cuMemsetD8Async");
  op *o = add((stream *) s, ZERO);
  o->to = to; o->bytes = bytes;
  LEAVE(value);
}
int cuMemcpyDtoDAsync_v2(word to, word from, word bytes, word s) {
  ENTER("cuMemcpyDtoDAsync_v2"); add_copy((stream *) s, to, from, bytes); LEAVE(0);
}
int cuStreamBeginCapture_v2(word h, int mode) {
  ENTER("cuStreamBeginCapture_v2");
  stream *s = (stream *) h;
  if (s->capturing) LEAVE(900);
  s->capturing = calloc(1, sizeof(graph));
  LEAVE(0);
}
int cuStreamEndCapture(word h, word *g) {
  ENTER("cuStreamEndCapture");
  stream *s = (stream *) h;
  if (!s->capturing) LEAVE(901);
  *g = (word) s->capturing;
  s->capturing = NULL;
  LEAVE(0);
}
int cuGraphInstantiateWithFlags(word *e, word g, word f) {
  ENTER("cuGraphInstantiateWithFlags");
  *e = (word) memcpy(malloc(sizeof(graph)), (void *) g, sizeof(graph));
  live[5]++;
  LEAVE(0);
}
int cuGraphDestroy(word g) { free((void *) g); return 0; }
int cuGraphExecDestroy(word g) { ENTER("cuGraphExecDestroy"); live[5]--; free((void *) g); LEAVE(0); }
int cuGraphLaunch(word h, word s) {
  ENTER("cuGraphLaunch");
  graph *g = (graph *) h;
  for (long i = 0; i < g->count; i++) {
    op *o = add((stream *) s, g->ops[i].kind);
    *o = g->ops[i];
  }
  LEAVE(0);
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
void stub_emulator(const char *folder) { strncpy(emulator, folder, sizeof emulator - 1); }
int cuModuleLoadDataEx(word *m, const char *text, unsigned n, void *k, void *v) {
  ENTER("cuModuleLoadDataEx");
  live[4]++;
  *m = text[0] == '/' && text[1] != '/' ? (word) dlopen(text, RTLD_NOW | RTLD_LOCAL) : 77;
  LEAVE(*m != 77 && *m || strstr(text, ".visible .entry ") ? 0 : 218);
}
int cuModuleGetFunction(word *f, word m, const char *name) {
  if (m != 77) {
    kernel *k = calloc(1, sizeof(kernel));
    k->function = (word) dlsym((void *) m, name);
    k->launch = dlsym((void *) m, "emulate_launch");
    strncpy(k->name, name, sizeof k->name - 1);
    *f = (word) k;
    return k->function ? 0 : 500;
  }
  *f = !strcmp(name, "kvasir_move") ? MOVE : !strcmp(name, "check") ? CHECK
      : !strcmp(name, "fill") ? FILL : !strcmp(name, "slow_fill") ? SLOW_FILL : MARK;
  return 0;
}
int cuFuncSetAttribute(word f, int a, int v) { return a == 8 && v <= 232448 ? 0 : 1; }
int cuModuleUnload(word m) { ENTER("cuModuleUnload"); live[4]--; LEAVE(0); }
int cuLaunchKernel(word f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
    unsigned bz, unsigned shared, word s, word **p, void **extra) {
  ENTER("cuLaunchKernel");
  if (f > 4096) {
    kernel *k = (kernel *) f;
    op *o = add((stream *) s, KERNEL);
    o->to = k->function; o->from = (word) k->launch; o->bytes = gx; o->rows = gy; o->to_pitch = bx;
    o->from_pitch = shared;
    // A float is the last parameter where there is one: which, only the name tells.
    o->p[0] = strstr(k->name, "decode") ? 10 : strstr(k->name, "prefill") ? 8
        : strstr(k->name, "random") ? 4 : 1;
    for (int i = 1; i < WORDS; i++) o->p[i] = *p[i - 1];
    LEAVE(gx == 0 || gy == 0 || bx == 0 || bx > 1024 || gy > 65535 ? 1 : 0);
  }
  op *o = add((stream *) s, (int) f);
  for (int i = 0; i < PARAMETERS; i++) o->p[i] = *p[i];
  if (f == SLOW_FILL) o->p[4] = 0;
  if (f == MOVE && !known(o->p[0], 16 * (o->p[1] / o->p[2]))) lost = 700;
  LEAVE(gx * bx == 0 || bx > 1024 ? 1 : 0);
}
typedef struct { unsigned gx, gy, gz, bx, by, bz, shared; word stream; int *attributes; unsigned count; } launching;
int cuLaunchKernelEx(const launching *l, word f, word **p, void **extra) {
  if (l->count != 1 || l->attributes[0] != 6 || l->attributes[2] != 1) return 1;
  return cuLaunchKernel(f, l->gx, l->gy, l->gz, l->bx, l->by, l->bz, l->shared, l->stream, p, extra);
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

typedef struct { char *text, *error, library[512]; } program;
int nvrtcVersion(int *major, int *minor) { *major = 0; *minor = 1; return 0; }
int nvrtcCreateProgram(program **p, const char *text, const char *n, int h, void *a, void *b) {
  *p = calloc(1, sizeof(program));
  (*p)->text = strdup(text);
  (*p)->error = strdup("");
  return 0;
}
int nvrtcDestroyProgram(program **p) { free((*p)->text); free((*p)->error); free(*p); return 0; }
static char *content(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 1 << 20);
  if (file) { text[fread(text, 1, (1 << 20) - 1, file)] = 0; fclose(file); }
  return text;
}
static word hashed(word hash, const char *text) {
  for (; *text; text++) hash = (hash ^ (unsigned char) *text) * 1099511628211ull;
  return hash;
}
static int compile(program *p, int n, const char **options) {
  char command[4096], path[600];
  word hash = hashed(14695981039346656037ull, p->text);
  for (int i = 0; i < n; i++) hash = hashed(hash, options[i]);
  snprintf(p->library, sizeof p->library, "%s/kernels-%llx.so", emulator, (unsigned long long) hash);
  if (!access(p->library, R_OK)) return 0;
  snprintf(path, sizeof path, "%s/kernels-%llx.cpp", emulator, (unsigned long long) hash);
  FILE *file = fopen(path, "w");
  if (!file) return 1;
  fprintf(file, "#include \"%s/emulate.h\"\n%s", emulator, p->text);
  fclose(file);
  int length = snprintf(command, sizeof command,
      "c++ -std=c++17 -O2 -w -fno-strict-aliasing -shared -fPIC -o %s.new %s", p->library, path);
  for (int i = 0; i < n; i++)
    if (!strncmp(options[i], "-D", 2))
      length += snprintf(command + length, sizeof command - length, " %s", options[i]);
  snprintf(command + length, sizeof command - length, " 2>%s/log && mv %s.new %s", emulator,
      p->library, p->library);
  if (!system(command)) return 0;
  snprintf(path, sizeof path, "%s/log", emulator);
  free(p->error);
  p->error = content(path);
  return 6;
}
/** Kernels that the folder has already are not compiled again; one thread of one process does it. */
int nvrtcCompileProgram(program *p, int n, const char **options) {
  static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;
  char path[600];
  pthread_mutex_lock(&compiling);
  if (!emulator[0] && getenv("KVASIR_EMULATOR")) stub_emulator(getenv("KVASIR_EMULATOR"));
  snprintf(path, sizeof path, "%s/lock", emulator);
  int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  flock(file, LOCK_EX);
  int status = compile(p, n, options);
  close(file);
  pthread_mutex_unlock(&compiling);
  return status;
}
int nvrtcGetProgramLogSize(program *p, word *n) { *n = strlen(p->error) + 1; return 0; }
int nvrtcGetProgramLog(program *p, char *to) { strcpy(to, p->error); return 0; }
int nvrtcGetCUBINSize(program *p, word *n) { *n = strlen(p->library) + 1; return 0; }
int nvrtcGetCUBIN(program *p, char *to) { strcpy(to, p->library); return 0; }

int cublasLtCreate(word *h) { *h = 5; return 0; }
int cublasLtDestroy(word h) { return 0; }
int cublasLtMatmulDescCreate(word *d, int sums, int scale) { *d = 6; return sums == 68 && !scale ? 0 : 7; }
int cublasLtMatmulDescSetAttribute(word d, int a, int *v, word n) { return a == 3 && *v == 1 && n == 4 ? 0 : 7; }
int cublasLtMatmulDescDestroy(word d) { return 0; }
int cublasLtMatrixLayoutCreate(layout **l, int type, word rows, word columns, word stride) {
  *l = malloc(sizeof(layout));
  **l = (layout) {type, rows, columns, stride};
  return stride == rows ? 0 : 7;
}
int cublasLtMatrixLayoutDestroy(layout *l) { free(l); return 0; }
int cublasLtMatmulPreferenceCreate(word *p) { *p = 8; return 0; }
int cublasLtMatmulPreferenceSetAttribute(word p, int a, word *v, word n) { return a == 1 && n == 8 ? 0 : 7; }
int cublasLtMatmulPreferenceDestroy(word p) { return 0; }
int cublasLtMatmulAlgoGetHeuristic(word h, word d, layout *a, layout *b, layout *c, layout *e, word p,
    int n, char *advice, int *count) {
  memset(advice, 0, 96);
  *count = a->rows == b->rows && a->columns == c->rows && b->columns == c->columns ? 1 : 0;
  return 0;
}
int cublasLtMatmul(word h, word d, float *one, word matrix, layout *m, word input, layout *in,
    float *adds, word c, layout *cl, word out, layout *o, void *algorithm, word workspace,
    word workspace_bytes, word s) {
  pthread_mutex_lock(&lock);
  op *p = add((stream *) s, PRODUCT);
  word all[] = {in->columns, m->columns, m->rows, o->type, *adds != 0, matrix, input, out};
  memcpy(p->p, all, sizeof all);
  LEAVE(*one == 1 && c == out ? 0 : 7);
}
