/* SPDX-License-Identifier: Apache-2.0 */
/* Texts beside those of dense slabs and blocks: totals, kernels of users. */
#include "cuda_internal.h"

#include <string.h>

#include "cuda_cache.h"

static lamina_status load(lmi_cuda_device *cuda, const char *kernel_name, const char *text, lmi_cuda_module *module)
{
  lamina_context *ctx = cuda->base.ctx;
  const lmi_cuda_target target = {cuda->units[module->unit].architecture, cuda->driver};
  lmi_cubin cubin;
  LMI_TRY(lmi_string_copy(ctx, text, &module->text));
  LMI_TRY(lmi_cuda_enter(cuda, module->unit));
  LMI_TRY(lmi_cuda_obtain(ctx, &cuda->nvrtc, kernel_name, text, &target, &cubin));
  const lamina_status loaded =
    lmi_cuda_check(ctx, &cuda->api, cuda->api.module_load(&module->module, cubin.data), "loading a kernel");
  lmi_cubin_free(ctx, &cubin);
  return loaded;
}

static void free_newest(lmi_cuda_device *cuda)
{
  lmi_cuda_module *module = cuda->modules;
  cuda->modules = module->next;
  if (module->module != NULL && lmi_cuda_enter(cuda, module->unit) == LAMINA_OK)
    (void)cuda->api.module_unload(module->module);
  lmi_free(cuda->base.ctx, module->text);
  lmi_free(cuda->base.ctx, module);
}

static lamina_status require_module(lmi_cuda_device *cuda, int unit, const char *kernel_name, const char *text,
                                    lmi_cu_module *found)
{
  for (const lmi_cuda_module *m = cuda->modules; m != NULL; m = m->next)
    if (m->unit == unit && strcmp(m->text, text) == 0) {
      *found = m->module;
      return LAMINA_OK;
    }
  lmi_cuda_module *made = NULL;
  LMI_TRY(LMI_ALLOC(cuda->base.ctx, 1, &made));
  made->unit = unit;
  made->next = cuda->modules;
  cuda->modules = made;
  const lamina_status status = load(cuda, kernel_name, text, made);
  if (status == LAMINA_OK)
    *found = made->module;
  else
    free_newest(cuda);
  return status;
}

lamina_status lmi_cuda_module_function(lmi_cuda_device *cuda, int unit, const char *kernel_name, const char *text,
                                       const char *function_name, lmi_cu_function *function)
{
  lmi_cu_module module = NULL;
  LMI_TRY(require_module(cuda, unit, kernel_name, text, &module));
  return lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.module_function(function, module, function_name),
                        function_name);
}

void lmi_cuda_free_modules(lmi_cuda_device *cuda)
{
  while (cuda->modules != NULL)
    free_newest(cuda);
}

lamina_status lmi_cuda_require_bytes(lmi_cuda_device *cuda, int unit, size_t bytes, lmi_cuda_room *room)
{
  if (room->bytes >= bytes)
    return LAMINA_OK;
  LMI_TRY(lmi_cuda_enter(cuda, unit));
  if (room->memory != 0)
    (void)cuda->api.memory_free(room->memory);
  *room = (lmi_cuda_room){0};
  LMI_TRY(lmi_cuda_check(cuda->base.ctx, &cuda->api, cuda->api.memory_allocate(&room->memory, bytes),
                         "allocating room for results"));
  room->bytes = bytes;
  return LAMINA_OK;
}
