/* SPDX-License-Identifier: Apache-2.0 */
/* The marks of the programs that are recorded, while they come. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "phase_marks.h"
#include "recorder.h"

enum { LINE_BYTES = 512 };

lamina_status lmi_phase_log_open(lmi_recorder *recorder)
{
  lmi_text path = {0};
  struct timespec utc;
  LMI_TRY(LMI_ALLOC(recorder->ctx, LINE_BYTES, &recorder->phase_line));
  LMI_TRY(lmi_text_append(recorder->ctx, &path, "%s/phases.log", recorder->folder));
  recorder->phases = fopen(path.data, "w+e");
  const int error_number = errno;
  lmi_text_free(recorder->ctx, &path);
  LMI_REQUIRE(recorder->ctx, recorder->phases != NULL, LAMINA_ERROR_FILE, "%s/phases.log cannot be made: %s",
              recorder->folder, strerror(error_number));
  clock_gettime(CLOCK_REALTIME, &utc);
  recorder->utc_offset_ns = (int64_t)utc.tv_sec * 1000000000 + utc.tv_nsec - (int64_t)lmi_monotonic_ns();
  return LAMINA_OK;
}

static lamina_status take_line(lmi_recorder *recorder, const char *line)
{
  const lmi_phase_mark mark = lmi_phase_mark_of(line);
  lmi_observed_process *process = lmi_observed_find(&recorder->observed, mark.pid);
  const uint64_t time = (uint64_t)(mark.utc_ns - recorder->utc_offset_ns);
  if (process == NULL)
    return LAMINA_OK;
  switch (mark.kind) {
  case '+': return lmi_observed_phase(&recorder->observed, process, mark.name, time);
  case '-': return lmi_observed_phase(&recorder->observed, process, NULL, time);
  case '=': return lmi_observed_name(&recorder->observed, process, mark.address, mark.bytes, mark.name);
  default: return LAMINA_OK; /* a marker of a newer version */
  }
}

lamina_status lmi_phase_log_read(lmi_recorder *recorder)
{
  clearerr(recorder->phases);
  for (int next = fgetc(recorder->phases); next != EOF; next = fgetc(recorder->phases)) {
    if (next != '\n') {
      if (recorder->phase_length + 1 < LINE_BYTES)
        recorder->phase_line[recorder->phase_length++] = (char)next;
      continue;
    }
    recorder->phase_line[recorder->phase_length] = '\0';
    recorder->phase_length = 0;
    LMI_TRY(take_line(recorder, recorder->phase_line));
  }
  return LAMINA_OK;
}

void lmi_phase_log_close(lmi_recorder *recorder)
{
  if (recorder->phases != NULL)
    fclose(recorder->phases);
  lmi_free(recorder->ctx, recorder->phase_line);
  recorder->phases = NULL;
  recorder->phase_line = NULL;
}
