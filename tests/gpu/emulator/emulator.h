/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA driver and an NVRTC that run on the host, as one library to put into LAMINA_CUDA_DRIVER and LAMINA_NVRTC. The
 * device's memory is poisoned. What is put on streams is not run at once: at a synchronisation everything pending runs
 * in a random order that the streams and events allow, so that a missing dependency shows. Functions bear the names of
 * the interface they stand for. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stddef.h>
#include <stdint.h>

typedef struct program program;
int nvrtcVersion(int *major, int *minor);
int nvrtcCreateProgram(program **made, const char *text, const char *name, int count, const char *const *headers,
                       const char *const *names);
int nvrtcCompileProgram(program *p, int option_count, const char *const *options);
int nvrtcDestroyProgram(program **p);
int nvrtcGetCUBINSize(const program *p, size_t *bytes);
int nvrtcGetCUBIN(const program *p, char *cubin);
int nvrtcGetProgramLogSize(const program *p, size_t *bytes);
int nvrtcGetProgramLog(const program *p, char *log);

typedef struct stream stream;
typedef struct event event;
typedef struct graph graph;
typedef struct module module;
typedef struct emulated_entry emulated_entry;

typedef struct copy_2d { /* CUDA_MEMCPY2D */
  size_t source_x, source_y;
  int source_type;
  const void *source_host;
  uint64_t source_device;
  void *source_array;
  size_t source_pitch;
  size_t target_x, target_y;
  int target_type;
  void *target_host;
  uint64_t target_device;
  void *target_array;
  size_t target_pitch;
  size_t bytes, rows;
} copy_2d;

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int result, const char **text);
int cuGetErrorString(int result, const char **text);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuCtxGetCurrent(void **context);
int cuCtxEnablePeerAccess(void *peer, unsigned flags);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
int cuMemFreeHost(void *memory);
int cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags);
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, stream *s);
int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, stream *s);
int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, stream *s);
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, stream *s);
int cuMemcpy2DAsync_v2(const copy_2d *copy, stream *s);
int cuModuleLoadData(module **made, const void *image);
int cuModuleUnload(module *m);
int cuModuleGetFunction(const emulated_entry **function, module *m, const char *name);
int cuFuncGetAttribute(int *value, int attribute, const emulated_entry *function);
int cuLaunchKernel(const emulated_entry *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, stream *s, void **arguments, void **extra);
typedef struct launch_config { /* CUlaunchConfig */
  unsigned grid[3], block[3], shared;
  stream *s;
  void *attributes;
  unsigned attribute_count;
} launch_config;
int cuLaunchKernelEx(const launch_config *config, const emulated_entry *function, void **arguments, void **extra);
int cuStreamCreate(stream **made, unsigned flags);
int cuStreamDestroy_v2(stream *s);
int cuStreamSynchronize(stream *s);
int cuStreamWaitEvent(stream *s, event *e, unsigned flags);
int cuStreamBeginCapture_v2(stream *s, int mode);
int cuStreamEndCapture(stream *s, graph **captured);
int cuEventCreate(event **made, unsigned flags);
int cuEventDestroy_v2(event *e);
int cuEventRecord(event *e, stream *s);
int cuEventSynchronize(event *e);
int cuEventElapsedTime(float *milliseconds, event *start, event *end);
int cuGraphInstantiateWithFlags(graph **made, graph *g, unsigned long long flags);
int cuGraphLaunch(graph *g, stream *s);
int cuGraphExecDestroy(graph *g);
int cuGraphDestroy(graph *g);

#endif
