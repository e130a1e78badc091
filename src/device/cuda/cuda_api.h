/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver and NVRTC, opened at run time. The few types and constants of their binary interface that we use are
 * declared here from the public documentation, so that no toolkit is needed to build. */
#ifndef LMI_CUDA_API_H
#define LMI_CUDA_API_H

#include "base/base.h"

typedef int lmi_cu_result; /* 0 is success, for both libraries */
typedef int lmi_cu_device;
typedef uint64_t lmi_cu_address;
typedef struct lmi_cu_context_object *lmi_cu_context;
typedef struct lmi_cu_module_object *lmi_cu_module;
typedef struct lmi_cu_function_object *lmi_cu_function;
typedef struct lmi_cu_stream_object *lmi_cu_stream;
typedef struct lmi_cu_event_object *lmi_cu_event;
typedef struct lmi_cu_graph_object *lmi_cu_graph;
typedef struct lmi_cu_graph_exec_object *lmi_cu_graph_exec;
typedef struct lmi_nvrtc_program_object *lmi_nvrtc_program;

enum {
  LMI_CU_OUT_OF_MEMORY = 2,
  LMI_CU_STREAM_NON_BLOCKING = 1,
  LMI_CU_EVENT_DEFAULT = 0,
  LMI_CU_EVENT_DISABLE_TIMING = 2,
  LMI_CU_CAPTURE_RELAXED = 2,
  LMI_CU_MEMORY_UNIFIED = 4, /* CU_MEMORYTYPE_UNIFIED: the address tells the device */
  LMI_CU_HOST_ALLOC_PORTABLE = 1,
  LMI_CU_HOST_ALLOC_MAPPED = 2,
};

/* CUdevice_attribute */
enum {
  LMI_CU_ATTRIBUTE_MULTIPROCESSORS = 16,
  LMI_CU_ATTRIBUTE_L2_BYTES = 38,
  LMI_CU_ATTRIBUTE_MAJOR = 75,
  LMI_CU_ATTRIBUTE_MINOR = 76,
};

/* CUdevice_P2PAttribute */
enum { LMI_CU_PEER_PERFORMANCE_RANK = 1, LMI_CU_PEER_ACCESS = 2, LMI_CU_PEER_NATIVE_ATOMICS = 3 };

/* CUfunction_attribute */
enum { LMI_CU_FUNCTION_SHARED_BYTES = 1, LMI_CU_FUNCTION_LOCAL_BYTES = 3, LMI_CU_FUNCTION_REGISTERS = 4 };

/* CUDA_MEMCPY2D */
typedef struct lmi_cu_copy_2d {
  size_t source_x, source_y;
  int source_type;
  const void *source_host;
  lmi_cu_address source_device;
  void *source_array;
  size_t source_pitch;
  size_t target_x, target_y;
  int target_type;
  void *target_host;
  lmi_cu_address target_device;
  void *target_array;
  size_t target_pitch;
  size_t bytes, rows;
} lmi_cu_copy_2d;

/* CUlaunchAttribute and CUlaunchConfig; of the attributes one is used. */
enum { LMI_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6 };
typedef struct lmi_cu_launch_attribute {
  int id, unused;
  union {
    char room[64];
    int is_allowed;
  } value;
} lmi_cu_launch_attribute;
typedef struct lmi_cu_launch_config {
  unsigned grid[3], block[3], shared_bytes;
  lmi_cu_stream stream;
  lmi_cu_launch_attribute *attributes;
  unsigned attribute_count;
} lmi_cu_launch_config;

/* X(field, symbol, arguments) */
#define LMI_CUDA_FUNCTIONS(X)                                                                                         \
  X(init, "cuInit", (unsigned flags))                                                                                 \
  X(driver_version, "cuDriverGetVersion", (int *version))                                                             \
  X(error_name, "cuGetErrorName", (lmi_cu_result result, const char **text))                                          \
  X(error_string, "cuGetErrorString", (lmi_cu_result result, const char **text))                                      \
  X(device_count, "cuDeviceGetCount", (int *count))                                                                   \
  X(device_get, "cuDeviceGet", (lmi_cu_device * device, int ordinal))                                                 \
  X(device_name, "cuDeviceGetName", (char *name, int bytes, lmi_cu_device device))                                    \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, lmi_cu_device device))                      \
  X(device_peer, "cuDeviceCanAccessPeer", (int *can, lmi_cu_device device, lmi_cu_device peer))                       \
  X(device_peer_attribute, "cuDeviceGetP2PAttribute",                                                                 \
    (int *value, int attribute, lmi_cu_device from, lmi_cu_device to))                                                \
  X(context_retain, "cuDevicePrimaryCtxRetain", (lmi_cu_context * context, lmi_cu_device device))                     \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (lmi_cu_device device))                                          \
  X(context_set, "cuCtxSetCurrent", (lmi_cu_context context))                                                         \
  X(context_get, "cuCtxGetCurrent", (lmi_cu_context * context))                                                       \
  X(context_enable_peer, "cuCtxEnablePeerAccess", (lmi_cu_context peer, unsigned flags))                              \
  X(memory_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total_bytes))                                      \
  X(memory_allocate, "cuMemAlloc_v2", (lmi_cu_address * address, size_t bytes))                                       \
  X(memory_free, "cuMemFree_v2", (lmi_cu_address address))                                                            \
  X(host_allocate, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))                                   \
  X(host_free, "cuMemFreeHost", (void *memory))                                                                       \
  X(host_device_pointer, "cuMemHostGetDevicePointer_v2", (lmi_cu_address * address, void *memory, unsigned flags))    \
  X(set_bytes, "cuMemsetD8Async", (lmi_cu_address address, unsigned char value, size_t bytes, lmi_cu_stream stream))  \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                                           \
    (lmi_cu_address target, const void *source, size_t bytes, lmi_cu_stream stream))                                  \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void *target, lmi_cu_address source, size_t bytes, lmi_cu_stream stream))  \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2",                                                                           \
    (lmi_cu_address target, lmi_cu_address source, size_t bytes, lmi_cu_stream stream))                               \
  X(copy_rows, "cuMemcpy2DAsync_v2", (const lmi_cu_copy_2d *copy, lmi_cu_stream stream))                              \
  X(module_load, "cuModuleLoadData", (lmi_cu_module * module, const void *image))                                     \
  X(module_unload, "cuModuleUnload", (lmi_cu_module module))                                                          \
  X(module_function, "cuModuleGetFunction", (lmi_cu_function * function, lmi_cu_module module, const char *name))     \
  X(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, lmi_cu_function function))                  \
  X(launch, "cuLaunchKernel",                                                                                         \
    (lmi_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, lmi_cu_stream stream, void **arguments, void **extra))                  \
  X(launch_with, "cuLaunchKernelEx",                                                                                  \
    (const lmi_cu_launch_config *config, lmi_cu_function function, void **arguments, void **extra))                   \
  X(stream_create, "cuStreamCreate", (lmi_cu_stream * stream, unsigned flags))                                        \
  X(stream_destroy, "cuStreamDestroy_v2", (lmi_cu_stream stream))                                                     \
  X(stream_synchronize, "cuStreamSynchronize", (lmi_cu_stream stream))                                                \
  X(stream_wait, "cuStreamWaitEvent", (lmi_cu_stream stream, lmi_cu_event event, unsigned flags))                     \
  X(stream_begin_capture, "cuStreamBeginCapture_v2", (lmi_cu_stream stream, int mode))                                \
  X(stream_end_capture, "cuStreamEndCapture", (lmi_cu_stream stream, lmi_cu_graph * graph))                           \
  X(event_create, "cuEventCreate", (lmi_cu_event * event, unsigned flags))                                            \
  X(event_destroy, "cuEventDestroy_v2", (lmi_cu_event event))                                                         \
  X(event_record, "cuEventRecord", (lmi_cu_event event, lmi_cu_stream stream))                                        \
  X(event_synchronize, "cuEventSynchronize", (lmi_cu_event event))                                                    \
  X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, lmi_cu_event start, lmi_cu_event end))                 \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                                                                 \
    (lmi_cu_graph_exec * exec, lmi_cu_graph graph, unsigned long long flags))                                         \
  X(graph_launch, "cuGraphLaunch", (lmi_cu_graph_exec exec, lmi_cu_stream stream))                                    \
  X(graph_exec_destroy, "cuGraphExecDestroy", (lmi_cu_graph_exec exec))                                               \
  X(graph_destroy, "cuGraphDestroy", (lmi_cu_graph graph))

#define LMI_NVRTC_FUNCTIONS(X)                                                                                      \
  X(version, "nvrtcVersion", (int *major, int *minor))                                                              \
  X(create, "nvrtcCreateProgram",                                                                                   \
    (lmi_nvrtc_program * program, const char *text, const char *name, int header_count, const char *const *headers, \
     const char *const *header_names))                                                                              \
  X(destroy, "nvrtcDestroyProgram", (lmi_nvrtc_program * program))                                                  \
  X(compile, "nvrtcCompileProgram", (lmi_nvrtc_program program, int option_count, const char *const *options))      \
  X(cubin_bytes, "nvrtcGetCUBINSize", (lmi_nvrtc_program program, size_t * bytes))                                  \
  X(cubin, "nvrtcGetCUBIN", (lmi_nvrtc_program program, char *cubin))                                               \
  X(log_bytes, "nvrtcGetProgramLogSize", (lmi_nvrtc_program program, size_t * bytes))                               \
  X(log, "nvrtcGetProgramLog", (lmi_nvrtc_program program, char *log))

#define LMI_API_FIELD(field, symbol, arguments) lmi_cu_result(*field) arguments;
typedef struct lmi_cuda_api {
  LMI_CUDA_FUNCTIONS(LMI_API_FIELD)
  void *library;
} lmi_cuda_api;
typedef struct lmi_nvrtc_api {
  LMI_NVRTC_FUNCTIONS(LMI_API_FIELD)
  void *library;
} lmi_nvrtc_api;
#undef LMI_API_FIELD

/* UNAVAILABLE with the reason: no library, too old a library, no device. LAMINA_CUDA_DRIVER and LAMINA_NVRTC name the
 * libraries to open instead of the usual ones. */
LAMINA_NODISCARD lamina_status lmi_cuda_api_open(lamina_context *ctx, lmi_cuda_api *api);
void lmi_cuda_api_close(lmi_cuda_api *api);
LAMINA_NODISCARD lamina_status lmi_nvrtc_api_open(lamina_context *ctx, lmi_nvrtc_api *api);
void lmi_nvrtc_api_close(lmi_nvrtc_api *api);

/* DEVICE with the driver's own name and text of the error, unless `result` is success. `what` was being done. */
LAMINA_NODISCARD lamina_status lmi_cuda_check(lamina_context *ctx, const lmi_cuda_api *api, lmi_cu_result result,
                                              const char *what);

#endif
