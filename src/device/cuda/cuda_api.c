/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_api.h"

#include <stdlib.h>

/* The last one: where a toolkit leaves it that is not on the loader's path. */
static const char *const nvrtc_names[] = {
  "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so", NULL,
};
static const char *const driver_names[] = {"libcuda.so.1", NULL};

#define CUDA_SYMBOL(field, symbol, arguments) {symbol, offsetof(lmi_cuda_api, field), false},
#define NVRTC_SYMBOL(field, symbol, arguments) {symbol, offsetof(lmi_nvrtc_api, field), false},
static const lmi_symbol cuda_symbols[] = {LMI_CUDA_FUNCTIONS(CUDA_SYMBOL)};
static const lmi_symbol nvrtc_symbols[] = {LMI_NVRTC_FUNCTIONS(NVRTC_SYMBOL)};

static lamina_status open_named(lamina_context *ctx, const char *variable, const char *const *usual,
                                const lmi_symbol *symbols, size_t count, void *table, void **library)
{
  const char *const chosen[] = {getenv(variable), NULL};
  return lmi_library_open(ctx, chosen[0] != NULL ? chosen : usual, symbols, count, table, library);
}

static lamina_status require_device(lamina_context *ctx, const lmi_cuda_api *api)
{
  int count = 0;
  const lmi_cu_result started = api->init(0);
  const lmi_cu_result counted = started == 0 ? api->device_count(&count) : started;
  if (counted == 0 && count > 0)
    return LAMINA_OK;
  const char *name = NULL;
  if (counted != 0)
    (void)api->error_name(counted, &name);
  return lmi_fail(ctx, LAMINA_UNAVAILABLE, "the CUDA driver is here but offers no device (%s): use --backend cpu",
                  name != NULL ? name : "it counts 0");
}

lamina_status lmi_cuda_api_open(lamina_context *ctx, lmi_cuda_api *api)
{
  *api = (lmi_cuda_api){0};
  if (open_named(ctx, "LAMINA_CUDA_DRIVER", driver_names, cuda_symbols, LMI_COUNT(cuda_symbols), api, &api->library) !=
      LAMINA_OK)
    return lmi_fail_within(ctx, LAMINA_UNAVAILABLE, "the cuda backend needs an NVIDIA driver");
  const lamina_status status = require_device(ctx, api);
  if (status != LAMINA_OK)
    lmi_cuda_api_close(api);
  return status;
}

void lmi_cuda_api_close(lmi_cuda_api *api)
{
  lmi_library_close(api->library);
  api->library = NULL;
}

lamina_status lmi_nvrtc_api_open(lamina_context *ctx, lmi_nvrtc_api *api)
{
  *api = (lmi_nvrtc_api){0};
  if (open_named(ctx, "LAMINA_NVRTC", nvrtc_names, nvrtc_symbols, LMI_COUNT(nvrtc_symbols), api, &api->library) !=
      LAMINA_OK)
    return lmi_fail_within(ctx, LAMINA_UNAVAILABLE,
                           "the cuda backend compiles its kernels with NVRTC of CUDA 12 or later "
                           "(put it on LD_LIBRARY_PATH, or its path into LAMINA_NVRTC)");
  return LAMINA_OK;
}

void lmi_nvrtc_api_close(lmi_nvrtc_api *api)
{
  lmi_library_close(api->library);
  api->library = NULL;
}

lamina_status lmi_cuda_check(lamina_context *ctx, const lmi_cuda_api *api, lmi_cu_result result, const char *what)
{
  if (result == 0)
    return LAMINA_OK;
  const char *name = NULL, *text = NULL;
  (void)api->error_name(result, &name);
  (void)api->error_string(result, &text);
  const lamina_status status = result == LMI_CU_OUT_OF_MEMORY ? LAMINA_ERROR_MEMORY : LAMINA_ERROR_DEVICE;
  return lmi_fail(ctx, status, "%s: %s (error %d: %s)", what, text != NULL ? text : "the driver gives no text", result,
                  name != NULL ? name : "unknown");
}
