/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC played by the host's C compiler: the "cubin" is a shared library. Kernel texts keep to the common part of C and
 * CUDA C++, so the text the device runs is the text that is tested here. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator.h"

typedef struct program {
  char folder[64];
  char *log;
  unsigned char *cubin; /* size_t count of bytes, then the library */
  size_t bytes;
} program;

static void put_file(const char *folder, const char *name, const char *text)
{
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
    abort();
}

static char *take_file(const char *folder, const char *name, size_t *bytes)
{
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return NULL;
  char *data = NULL;
  size_t used = 0, got = 0;
  do {
    data = realloc(data, used + 65537);
    got = fread(data + used, 1, 65536, file);
    used += got;
  } while (got > 0);
  data[used] = '\0';
  fclose(file);
  *bytes = used;
  return data;
}

int nvrtcVersion(int *major, int *minor)
{
  *major = 0;
  *minor = 0;
  return 0;
}

int nvrtcCreateProgram(program **made, const char *text, const char *name, int count, const char *const *headers,
                       const char *const *names)
{
  (void)name;
  program *p = calloc(1, sizeof *p);
  strcpy(p->folder, "/tmp/emulated_nvrtc.XXXXXX");
  if (p == NULL || mkdtemp(p->folder) == NULL)
    return 1;
  for (int i = 0; i < count; i++)
    put_file(p->folder, names[i], headers[i]);
  put_file(p->folder, "prelude_cuda.h", "#include \"" EMULATOR_FOLDER "/emulated_prelude.h\"\n");
  char *whole = NULL;
  if (asprintf(&whole, "%s#include \"" EMULATOR_FOLDER "/emulated_entries.h\"\n", text) < 0)
    return 1;
  put_file(p->folder, "kernel.c", whole);
  free(whole);
  *made = p;
  return 0;
}

int nvrtcCompileProgram(program *p, int option_count, const char *const *options)
{
  (void)option_count;
  (void)options;
  char command[512];
  snprintf(command, sizeof command,
           "cd %s && " EMULATOR_COMPILER " -std=gnu17 -O1 -march=x86-64-v3 -ffp-contract=off -w -shared -fPIC "
           "kernel.c -o kernel.so > log 2>&1",
           p->folder);
  const int result = system(command);
  size_t bytes = 0;
  p->log = take_file(p->folder, "log", &bytes);
  if (result != 0)
    return 6;
  char *library = take_file(p->folder, "kernel.so", &bytes);
  p->bytes = bytes + sizeof bytes;
  p->cubin = malloc(p->bytes);
  memcpy(p->cubin, &bytes, sizeof bytes);
  memcpy(p->cubin + sizeof bytes, library, bytes);
  free(library);
  return 0;
}

int nvrtcDestroyProgram(program **p)
{
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", (*p)->folder);
  const int removed = system(command);
  free((*p)->log);
  free((*p)->cubin);
  free(*p);
  *p = NULL;
  return removed == 0 ? 0 : 1;
}

int nvrtcGetCUBINSize(const program *p, size_t *bytes)
{
  *bytes = p->bytes;
  return 0;
}

int nvrtcGetCUBIN(const program *p, char *cubin)
{
  memcpy(cubin, p->cubin, p->bytes);
  return 0;
}

int nvrtcGetProgramLogSize(const program *p, size_t *bytes)
{
  *bytes = p->log != NULL ? strlen(p->log) + 1 : 0;
  return 0;
}

int nvrtcGetProgramLog(const program *p, char *log)
{
  memcpy(log, p->log, strlen(p->log) + 1);
  return 0;
}
