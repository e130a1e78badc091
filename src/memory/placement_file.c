/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as a file: what the preload library reads. One line a tier, one a site; texts as in profiles. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile_store.h"

#include <lamina/placement.h>

static lamina_status append_escaped(lamina_context *ctx, lmi_text *text, const char *word)
{
  if (*word == '\0')
    return lmi_text_append(ctx, text, "%%");
  for (; *word != '\0'; word++) {
    const unsigned char c = (unsigned char)*word;
    const bool is_plain = c > ' ' && c != '%' && c != 0x7F;
    LMI_TRY(is_plain ? lmi_text_append(ctx, text, "%c", c) : lmi_text_append(ctx, text, "%%%02X", c));
  }
  return LAMINA_OK;
}

/* "place KIND TIER PERMILLE FAST:SLOW BYTES NAME", then one "frame" line for each caller. */
static lamina_status append_site(lamina_context *ctx, lmi_text *text, const lamina_profile_object *object,
                                 const lamina_advice *advice)
{
  LMI_TRY(lmi_text_append(ctx, text, "place %s %d %d %d:%d %llu ", lamina_advice_name(advice->kind), advice->tier,
                          (int)(1000 * advice->fraction + 0.5), advice->weights[0], advice->weights[1],
                          (unsigned long long)object->bytes_peak));
  LMI_TRY(append_escaped(ctx, text, object->name));
  LMI_TRY(lmi_text_append(ctx, text, "\n"));
  for (size_t i = 0; i < object->frame_count; i++) {
    LMI_TRY(lmi_text_append(ctx, text, "frame %llx ", (unsigned long long)object->frames[i].address));
    LMI_TRY(append_escaped(ctx, text, object->frames[i].module));
    LMI_TRY(lmi_text_append(ctx, text, "\n"));
  }
  return LAMINA_OK;
}

static lamina_status compose(const lamina_profile *profile, const lamina_plan *plan,
                             const lamina_replay_options *options, lmi_text *text)
{
  lamina_context *ctx = profile->ctx;
  LMI_TRY(lmi_text_append(ctx, text, "lamina-plan 1\n"));
  for (int tier = 0; tier < options->tier_count; tier++) {
    LMI_TRY(lmi_text_append(ctx, text, "tier %d %d %llu ", tier, options->tiers[tier].node,
                            (unsigned long long)plan->before->capacity_bytes[tier]));
    LMI_TRY(append_escaped(ctx, text, options->tiers[tier].name));
    LMI_TRY(lmi_text_append(ctx, text, "\n"));
  }
  for (size_t i = 0; i < plan->count; i++)
    if (plan->advice[i].kind != LAMINA_ADVICE_FREE && profile->objects.data[plan->advice[i].object].frame_count > 0)
      LMI_TRY(append_site(ctx, text, &profile->objects.data[plan->advice[i].object], &plan->advice[i]));
  return lmi_text_append(ctx, text, "end\n");
}

static bool write_whole(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  if (file == NULL)
    return false;
  const bool is_written = fputs(text, file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
  return fclose(file) == 0 && is_written;
}

lamina_status lamina_plan_write(const lamina_profile *profile, const lamina_plan *plan,
                                const lamina_replay_options *options, const char *path)
{
  lamina_context *ctx = profile->ctx;
  lamina_status status = LAMINA_OK;
  lmi_text text = {0}, partial = {0};
  LMI_TRY_GOTO(status, compose(profile, plan, options, &text), cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(ctx, &partial, "%s.partial", path), cleanup);
  if (!write_whole(partial.data, text.data) || rename(partial.data, path) != 0) {
    status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s: the plan cannot be written", path);
    unlink(partial.data);
  }
cleanup:
  lmi_text_free(ctx, &text);
  lmi_text_free(ctx, &partial);
  return status;
}
