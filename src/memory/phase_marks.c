/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "phase_marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512 };

lmi_phase_mark lmi_phase_mark_of(const char *line)
{
  char *at = NULL;
  lmi_phase_mark mark = {.utc_ns = strtoll(line, &at, 10)};
  mark.pid = (uint32_t)strtoul(at, &at, 10);
  while (*at == ' ')
    at++;
  mark.kind = *at;
  if (mark.kind != '\0')
    at++;
  mark.address = strtoull(at, &at, 16);
  mark.bytes = strtoull(at, &at, 10);
  mark.name = *at == ' ' ? at + 1 : at;
  return mark;
}

static lamina_status add(lamina_context *ctx, const lmi_phase_mark *mark, lmi_phase_stretch **stretches, size_t *count,
                         size_t *room)
{
  if (*count == *room) {
    lmi_phase_stretch *grown = NULL;
    *room = 2 * *room + 64;
    LMI_TRY(LMI_ALLOC(ctx, *room, &grown));
    if (*count > 0)
      memcpy(grown, *stretches, *count * sizeof *grown);
    lmi_free(ctx, *stretches);
    *stretches = grown;
  }
  lmi_phase_stretch *stretch = &(*stretches)[(*count)++];
  *stretch = (lmi_phase_stretch){.utc_ns = mark->utc_ns};
  if (mark->kind == '+')
    snprintf(stretch->name, sizeof stretch->name, "%.63s", mark->name);
  return LAMINA_OK;
}

lamina_status lmi_phase_stretches(lamina_context *ctx, const char *path, lmi_phase_stretch **stretches, size_t *count)
{
  char line[LINE_BYTES];
  size_t room = 0;
  uint32_t pid = 0;
  *stretches = NULL;
  *count = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be read", path);
  lamina_status status = LAMINA_OK;
  while (status == LAMINA_OK && fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    const lmi_phase_mark mark = lmi_phase_mark_of(line);
    if (pid == 0 && mark.kind == '+')
      pid = mark.pid;
    if (mark.pid == pid && (mark.kind == '+' || mark.kind == '-'))
      status = add(ctx, &mark, stretches, count, &room);
  }
  fclose(file);
  if (status == LAMINA_OK)
    return LAMINA_OK;
  lmi_free(ctx, *stretches);
  *stretches = NULL;
  *count = 0;
  return status;
}
