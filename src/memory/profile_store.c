/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Makes room for one more element. */
static lamina_status grow(lamina_context *ctx, void **data, size_t *capacity, size_t count, size_t size)
{
  void *larger = NULL;
  if (count < *capacity)
    return LAMINA_OK;
  const size_t wanted = *capacity < 16 ? 16 : 2 * *capacity;
  LMI_TRY(lmi_alloc_array(ctx, wanted, size, &larger));
  if (count > 0)
    memcpy(larger, *data, count * size);
  lmi_free(ctx, *data);
  *data = larger;
  *capacity = wanted;
  return LAMINA_OK;
}

#define GROW(profile, array)                                                                                \
  grow((profile)->ctx, (void **)&(profile)->array.data, &(profile)->array.capacity, (profile)->array.count, \
       sizeof *(profile)->array.data)

lamina_status lmi_memory_profile_keep(lamina_profile *profile, const char *text, const char **kept)
{
  char *copy = NULL;
  LMI_TRY(GROW(profile, strings));
  LMI_TRY(lmi_string_copy(profile->ctx, text != NULL ? text : "", &copy));
  profile->strings.data[profile->strings.count++] = copy;
  *kept = copy;
  return LAMINA_OK;
}

/* An array that lives as long as the profile. */
static lamina_status keep_block(lamina_profile *profile, const void *data, size_t count, size_t size, void **kept)
{
  LMI_TRY(GROW(profile, blocks));
  LMI_TRY(lmi_alloc_array(profile->ctx, count, size, kept));
  if (count > 0)
    memcpy(*kept, data, count * size);
  profile->blocks.data[profile->blocks.count++] = *kept;
  return LAMINA_OK;
}

static lamina_status add_first_entries(lamina_profile *profile)
{
  lamina_profile_phase none = {.name = "(none)", .seconds = NAN, .counts = lmi_counts_none()};
  for (int tier = 0; tier < LAMINA_TIERS_MAX; tier++)
    none.tier_lines[tier] = LAMINA_UNCOUNTED;
  const lamina_profile_object other = {.name = "(other)", .kind = LAMINA_OBJECT_OTHER};
  LMI_TRY(lmi_memory_profile_add_phase(profile, &none, NULL));
  return lmi_memory_profile_add_object(profile, &other, NULL);
}

lamina_status lmi_memory_profile_create(lamina_context *ctx, lamina_profile_source source, lamina_profile **profile)
{
  lamina_status status = LAMINA_OK;
  lamina_profile *made = NULL;
  *profile = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &made));
  made->ctx = ctx;
  made->summary =
    (lamina_profile_summary){.source = source, .sample_count = LAMINA_UNCOUNTED, .page_bytes = 4096, .model = ""};
  LMI_TRY_GOTO(status, add_first_entries(made), cleanup);
  *profile = made;
  return LAMINA_OK;
cleanup:
  lamina_profile_destroy(made);
  return status;
}

void lamina_profile_destroy(lamina_profile *profile)
{
  if (profile == NULL)
    return;
  lamina_context *ctx = profile->ctx;
  for (size_t i = 0; i < profile->strings.count; i++)
    lmi_free(ctx, profile->strings.data[i]);
  for (size_t i = 0; i < profile->blocks.count; i++)
    lmi_free(ctx, profile->blocks.data[i]);
  void *const arrays[] = {profile->processes.data, profile->threads.data,   profile->phases.data,
                          profile->objects.data,   profile->footprint.data, (void *)profile->remarks.data,
                          profile->pages.data,     profile->counts.data,    profile->strings.data,
                          profile->blocks.data};
  for (size_t i = 0; i < LMI_COUNT(arrays); i++)
    lmi_free(ctx, arrays[i]);
  lmi_free(ctx, profile);
}

/* ---- adding ---- */

lamina_status lmi_memory_profile_add_process(lamina_profile *profile, const lamina_profile_process *process,
                                             size_t *index)
{
  lamina_profile_process added = *process;
  LMI_REQUIRE(profile->ctx, profile->processes.count < INT16_MAX, LAMINA_ERROR_ARGUMENT,
              "a profile holds at most %d processes", INT16_MAX);
  LMI_TRY(GROW(profile, processes));
  LMI_TRY(lmi_memory_profile_keep(profile, process->command, &added.command));
  LMI_TRY(lmi_memory_profile_keep(profile, process->ended, &added.ended));
  if (index != NULL)
    *index = profile->processes.count;
  profile->processes.data[profile->processes.count++] = added;
  return LAMINA_OK;
}

lamina_status lmi_memory_profile_add_thread(lamina_profile *profile, const lamina_profile_thread *thread)
{
  LMI_TRY(GROW(profile, threads));
  profile->threads.data[profile->threads.count++] = *thread;
  return LAMINA_OK;
}

static void add_to_phase(lamina_profile_phase *sum, const lamina_profile_phase *term)
{
  lmi_counts_add(&sum->counts, &term->counts);
  if (!isnan(term->seconds))
    sum->seconds = isnan(sum->seconds) ? term->seconds : sum->seconds + term->seconds;
  for (int tier = 0; tier < LAMINA_TIERS_MAX; tier++) {
    const uint64_t lines = term->tier_lines[tier];
    if (lines != LAMINA_UNCOUNTED)
      sum->tier_lines[tier] = sum->tier_lines[tier] == LAMINA_UNCOUNTED ? lines : sum->tier_lines[tier] + lines;
  }
}

lamina_status lmi_memory_profile_add_phase(lamina_profile *profile, const lamina_profile_phase *phase, size_t *index)
{
  for (size_t i = 0; i < profile->phases.count; i++)
    if (strcmp(profile->phases.data[i].name, phase->name) == 0) {
      add_to_phase(&profile->phases.data[i], phase);
      if (index != NULL)
        *index = i;
      return LAMINA_OK;
    }
  lamina_profile_phase added = *phase;
  LMI_TRY(GROW(profile, phases));
  LMI_TRY(lmi_memory_profile_keep(profile, phase->name, &added.name));
  if (index != NULL)
    *index = profile->phases.count;
  profile->phases.data[profile->phases.count++] = added;
  return LAMINA_OK;
}

static lamina_status keep_frames(lamina_profile *profile, lamina_profile_object *object)
{
  void *block = NULL;
  if (object->frame_count == 0)
    return LAMINA_OK;
  LMI_TRY(keep_block(profile, object->frames, object->frame_count, sizeof *object->frames, &block));
  lamina_profile_frame *frames = block;
  for (size_t i = 0; i < object->frame_count; i++) {
    LMI_TRY(lmi_memory_profile_keep(profile, frames[i].module, &frames[i].module));
    LMI_TRY(lmi_memory_profile_keep(profile, frames[i].text, &frames[i].text));
  }
  object->frames = frames;
  return LAMINA_OK;
}

lamina_status lmi_memory_profile_add_object(lamina_profile *profile, const lamina_profile_object *object, size_t *index)
{
  lamina_profile_object added = *object;
  void *slices = NULL;
  LMI_TRY(GROW(profile, objects));
  LMI_TRY(lmi_memory_profile_keep(profile, object->name, &added.name));
  LMI_TRY(keep_frames(profile, &added));
  if (object->slice_misses != NULL) {
    LMI_TRY(keep_block(profile, object->slice_misses, profile->summary.slice_count, sizeof(uint64_t), &slices));
    added.slice_misses = slices;
  }
  if (index != NULL)
    *index = profile->objects.count;
  profile->objects.data[profile->objects.count++] = added;
  return LAMINA_OK;
}

lamina_status lmi_memory_profile_add_footprint(lamina_profile *profile, const lamina_footprint_point *point)
{
  LMI_TRY(GROW(profile, footprint));
  profile->footprint.data[profile->footprint.count++] = *point;
  return LAMINA_OK;
}

static bool has_remark(const lamina_profile *profile, const char *text)
{
  for (size_t i = 0; i < profile->remarks.count; i++)
    if (strcmp(profile->remarks.data[i], text) == 0)
      return true;
  return false;
}

lamina_status lmi_memory_profile_add_remark(lamina_profile *profile, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (has_remark(profile, text))
    return LAMINA_OK;
  const char *kept = NULL;
  LMI_TRY(GROW(profile, remarks));
  LMI_TRY(lmi_memory_profile_keep(profile, text, &kept));
  profile->remarks.data[profile->remarks.count++] = kept;
  return LAMINA_OK;
}

lamina_status lmi_memory_profile_add_page(lamina_profile *profile, const lmi_profile_page *page)
{
  lmi_profile_page added = *page;
  LMI_REQUIRE(profile->ctx, profile->counts.count < UINT32_MAX, LAMINA_ERROR_MEMORY,
              "a profile holds at most %u records of page counts", UINT32_MAX);
  added.first_count = (uint32_t)profile->counts.count;
  added.count_count = 0;
  LMI_TRY(GROW(profile, pages));
  profile->pages.data[profile->pages.count++] = added;
  profile->summary.page_count = profile->pages.count;
  return LAMINA_OK;
}

lamina_status lmi_memory_profile_add_page_counts(lamina_profile *profile, const lmi_profile_page_counts *counts)
{
  LMI_REQUIRE(profile->ctx, profile->pages.count > 0, LAMINA_ERROR_ARGUMENT, "page counts come after their page");
  LMI_TRY(GROW(profile, counts));
  profile->counts.data[profile->counts.count++] = *counts;
  profile->pages.data[profile->pages.count - 1].count_count++;
  return LAMINA_OK;
}

/* ---- views ---- */

const lamina_profile_summary *lamina_profile_get_summary(const lamina_profile *profile)
{
  return &profile->summary;
}

const lamina_profile_process *lamina_profile_processes(const lamina_profile *profile, size_t *count)
{
  *count = profile->processes.count;
  return profile->processes.data;
}

const lamina_profile_thread *lamina_profile_threads(const lamina_profile *profile, size_t *count)
{
  *count = profile->threads.count;
  return profile->threads.data;
}

const lamina_profile_phase *lamina_profile_phases(const lamina_profile *profile, size_t *count)
{
  *count = profile->phases.count;
  return profile->phases.data;
}

const lamina_profile_object *lamina_profile_objects(const lamina_profile *profile, size_t *count)
{
  *count = profile->objects.count;
  return profile->objects.data;
}

const lamina_footprint_point *lamina_profile_footprint(const lamina_profile *profile, size_t *count)
{
  *count = profile->footprint.count;
  return profile->footprint.data;
}

const char *const *lamina_profile_remarks(const lamina_profile *profile, size_t *count)
{
  *count = profile->remarks.count;
  return profile->remarks.data;
}
