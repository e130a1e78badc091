/* SPDX-License-Identifier: Apache-2.0 */
/* Phase markers for any C or C++ program: which part of the program is running, and what its large arrays are called.
 * Header only: nothing to link. `lamina record` and the exact tracer read them; without either a marker is one test of
 * a variable.
 *
 *   lamina_phase_name_object(matrix, bytes, "matrix");
 *   lamina_phase_start("solve");
 *   ...
 *   lamina_phase_stop();
 *
 * Phases nest; a page access counts for the innermost. Markers concern the whole process: let one thread set them.
 * Names have no newline and at most 200 characters.
 *
 * A marker appends one line to the file that the environment variable LAMINA_PHASES names, which `lamina record` sets.
 * A process that was forked without exec goes on under its parent's number. */
#ifndef LAMINA_PHASE_H
#define LAMINA_PHASE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <lamina/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The stream of this source file: opened at its first marker. `state` 0: not tried, 1: open, 2: nobody listens. */
typedef struct lamina_phase_stream {
  int state;
  long process;
  FILE *file;
} lamina_phase_stream;

/* Opens the stream; returns whether somebody listens. */
static inline int lamina_phase_open(lamina_phase_stream *stream)
{
  const char *path = getenv("LAMINA_PHASES");
  FILE *self = path != NULL ? fopen("/proc/self/stat", "r") : NULL;
  stream->state = 2;
  if (self == NULL)
    return 0;
  if (fscanf(self, "%ld", &stream->process) == 1)
    stream->file = fopen(path, "a");
  fclose(self);
  if (stream->file != NULL)
    stream->state = 1;
  return stream->state == 1;
}

static inline void lamina_phase_line(char kind, const void *address, size_t bytes, const char *name)
{
  static lamina_phase_stream stream = {0, 0, NULL};
  struct timespec now;
  if (stream.state == 2 || (stream.state == 0 && !lamina_phase_open(&stream)))
    return;
  if (timespec_get(&now, TIME_UTC) == 0)
    return;
  /* One line, flushed at once: appended whole, so that lines of several processes do not mix. */
  fprintf(stream.file, "%lld%09ld %ld %c %lx %lu %.200s\n", (long long)now.tv_sec, (long)now.tv_nsec, stream.process,
          kind, (unsigned long)(size_t)address, (unsigned long)bytes, name);
  fflush(stream.file);
}

static inline void lamina_phase_start(const char *name)
{
  (void)lamina_trace_request(LAMINA_TRACE_PHASE_START, (uintptr_t)name, 0, 0);
  lamina_phase_line('+', NULL, 0, name);
}

static inline void lamina_phase_stop(void)
{
  (void)lamina_trace_request(LAMINA_TRACE_PHASE_STOP, 0, 0, 0);
  lamina_phase_line('-', NULL, 0, "");
}

/* Gives a name to the pages of an array. */
static inline void lamina_phase_name_object(const void *address, size_t bytes, const char *name)
{
  (void)lamina_trace_request(LAMINA_TRACE_NAME_OBJECT, (uintptr_t)address, (uint64_t)bytes, (uintptr_t)name);
  lamina_phase_line('=', address, bytes, name);
}

#ifdef __cplusplus
}
#endif

#endif
