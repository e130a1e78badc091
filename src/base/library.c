/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "base.h"

/* Never unloaded: drivers start threads of their own, and the C++ runtime that some bring along would lose its memory
 * pool. */
enum { OPEN_MODE = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

/* POSIX promises that an object pointer from dlsym can hold a function; ISO C forbids the cast, so the bytes are
 * copied. */
static void store_function(void *table, size_t offset, void *address)
{
  memcpy((char *)table + offset, &address, sizeof address);
}

lamina_status lmi_library_open(lamina_context *ctx, const char *const *names, const lmi_symbol *symbols,
                               size_t symbol_count, void *table, void **handle)
{
  *handle = NULL;
  void *opened = NULL;
  for (size_t i = 0; names[i] != NULL && opened == NULL; i++)
    opened = dlopen(names[i], OPEN_MODE);
  if (opened == NULL) {
    const char *why = dlerror();
    return lmi_fail(ctx, LAMINA_UNAVAILABLE, "%s is not on this machine (%s)", names[0],
                    why != NULL ? why : "no reason given");
  }
  for (size_t i = 0; i < symbol_count; i++) {
    void *address = dlsym(opened, symbols[i].name);
    if (address == NULL && !symbols[i].optional) {
      dlclose(opened);
      return lmi_fail(ctx, LAMINA_UNAVAILABLE, "%s lacks the function %s: it is too old", names[0], symbols[i].name);
    }
    store_function(table, symbols[i].offset, address);
  }
  *handle = opened;
  return LAMINA_OK;
}

void lmi_library_close(void *handle)
{
  if (handle != NULL)
    dlclose(handle);
}
