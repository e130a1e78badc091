/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes as one profile: phases of one name, objects of one site and slices of one length are put together;
 * pages stay apart, since address spaces are. */
#include <string.h>

#include "profile_store.h"

static bool is_same_site(const lamina_profile_object *a, const lamina_profile_object *b)
{
  if (a->kind != b->kind || a->frame_count != b->frame_count || strcmp(a->name, b->name) != 0)
    return false;
  for (size_t i = 0; i < a->frame_count; i++)
    if (a->frames[i].address != b->frames[i].address || strcmp(a->frames[i].module, b->frames[i].module) != 0)
      return false;
  return true;
}

static uint64_t add_known(uint64_t a, uint64_t b)
{
  return a == LAMINA_UNCOUNTED ? b : b == LAMINA_UNCOUNTED ? a : a + b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

static void add_object(lamina_profile_object *sum, const lamina_profile_object *term, uint64_t slice_count)
{
  sum->blocks += term->blocks;
  sum->bytes_total += term->bytes_total;
  sum->bytes_peak += term->bytes_peak;
  sum->page_bytes += term->page_bytes;
  sum->first_time = term->first_time < sum->first_time ? term->first_time : sum->first_time;
  sum->last_use = larger(sum->last_use, term->last_use);
  sum->last_release = larger(sum->last_release, term->last_release);
  sum->accesses = add_known(sum->accesses, term->accesses);
  sum->misses = add_known(sum->misses, term->misses);
  sum->writebacks = add_known(sum->writebacks, term->writebacks);
  uint64_t *slices = (uint64_t *)sum->slice_misses; /* the profile's own array: const only to readers */
  for (uint64_t slice = 0; slices != NULL && term->slice_misses != NULL && slice < slice_count; slice++)
    slices[slice] += term->slice_misses[slice];
}

/* Slices of `other` in the units of `profile`; lengths are powers of two of one length. */
static void regroup(const lamina_profile_summary *from, const lamina_profile_summary *to, const uint64_t *misses,
                    uint64_t *regrouped)
{
  memset(regrouped, 0, to->slice_count * sizeof *regrouped);
  for (uint64_t slice = 0; slice < from->slice_count; slice++) {
    const uint64_t place = slice * from->slice_instructions / to->slice_instructions;
    regrouped[place < to->slice_count ? place : to->slice_count - 1] += misses[slice];
  }
}

static lamina_status merge_object(lamina_profile *profile, const lamina_profile *other,
                                  const lamina_profile_object *object, uint64_t *slices, uint32_t *place)
{
  const lamina_profile_summary *summary = &profile->summary;
  lamina_profile_object term = *object;
  size_t index = 0;
  if (slices != NULL) {
    memset(slices, 0, summary->slice_count * sizeof *slices);
    if (object->slice_misses != NULL)
      regroup(&other->summary, summary, object->slice_misses, slices);
    term.slice_misses = slices;
  } else {
    term.slice_misses = NULL;
  }
  for (; index < profile->objects.count; index++)
    if (is_same_site(&profile->objects.data[index], &term)) {
      add_object(&profile->objects.data[index], &term, summary->slice_count);
      *place = (uint32_t)index;
      return LAMINA_OK;
    }
  LMI_TRY(lmi_memory_profile_add_object(profile, &term, &index));
  *place = (uint32_t)index;
  return LAMINA_OK;
}

static lamina_status merge_objects(lamina_profile *profile, const lamina_profile *other, uint32_t *places)
{
  lamina_status status = LAMINA_OK;
  uint64_t *slices = NULL;
  if (profile->summary.slice_count > 0 && profile->summary.slice_instructions > 0)
    LMI_TRY(LMI_ALLOC(profile->ctx, profile->summary.slice_count, &slices));
  for (size_t i = 0; i < other->objects.count; i++)
    LMI_TRY_GOTO(status, merge_object(profile, other, &other->objects.data[i], slices, &places[i]), cleanup);
cleanup:
  lmi_free(profile->ctx, slices);
  return status;
}

static lamina_status merge_pages(lamina_profile *profile, const lamina_profile *other, const uint32_t *objects,
                                 const uint32_t *phases, size_t first_process)
{
  for (size_t i = 0; i < other->pages.count; i++) {
    lmi_profile_page page = other->pages.data[i];
    const uint32_t first = page.first_count, count = page.count_count;
    page.object = objects[page.object];
    page.process = (int16_t)(page.process + (int16_t)first_process);
    LMI_TRY(lmi_memory_profile_add_page(profile, &page));
    for (uint32_t j = 0; j < count; j++) {
      lmi_profile_page_counts counts = other->counts.data[first + j];
      counts.phase = phases[counts.phase];
      LMI_TRY(lmi_memory_profile_add_page_counts(profile, &counts));
    }
  }
  return LAMINA_OK;
}

static lamina_status merge_processes(lamina_profile *profile, const lamina_profile *other, size_t first_process)
{
  for (size_t i = 0; i < other->processes.count; i++)
    LMI_TRY(lmi_memory_profile_add_process(profile, &other->processes.data[i], NULL));
  for (size_t i = 0; i < other->threads.count; i++) {
    lamina_profile_thread thread = other->threads.data[i];
    thread.process += (int)first_process;
    LMI_TRY(lmi_memory_profile_add_thread(profile, &thread));
  }
  for (size_t i = 0; i < other->footprint.count; i++)
    LMI_TRY(lmi_memory_profile_add_footprint(profile, &other->footprint.data[i]));
  for (size_t i = 0; i < other->remarks.count; i++)
    LMI_TRY(lmi_memory_profile_add_remark(profile, "%s", other->remarks.data[i]));
  return LAMINA_OK;
}

static void merge_summary(lamina_profile_summary *sum, const lamina_profile_summary *term)
{
  sum->sample_count = add_known(sum->sample_count, term->sample_count);
  sum->tier_count = sum->tier_count > term->tier_count ? sum->tier_count : term->tier_count;
}

lamina_status lmi_memory_profile_merge(lamina_profile *profile, const lamina_profile *other)
{
  lamina_context *ctx = profile->ctx;
  lamina_status status = LAMINA_OK;
  uint32_t *objects = NULL, *phases = NULL;
  const size_t first_process = profile->processes.count;
  LMI_REQUIRE(ctx, profile->summary.source == other->summary.source, LAMINA_ERROR_CASE,
              "profiles of the sources '%s' and '%s' cannot be put together: record them into folders of their own",
              lamina_profile_source_name(profile->summary.source), lamina_profile_source_name(other->summary.source));
  LMI_REQUIRE(ctx, profile->summary.page_bytes == other->summary.page_bytes, LAMINA_ERROR_CASE,
              "profiles with pages of %llu and %llu bytes cannot be put together",
              (unsigned long long)profile->summary.page_bytes, (unsigned long long)other->summary.page_bytes);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, other->objects.count, &objects), cleanup);
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, other->phases.count, &phases), cleanup);
  for (size_t i = 0; i < other->phases.count; i++) {
    size_t place = 0;
    LMI_TRY_GOTO(status, lmi_memory_profile_add_phase(profile, &other->phases.data[i], &place), cleanup);
    phases[i] = (uint32_t)place;
  }
  LMI_TRY_GOTO(status, merge_objects(profile, other, objects), cleanup);
  LMI_TRY_GOTO(status, merge_processes(profile, other, first_process), cleanup);
  LMI_TRY_GOTO(status, merge_pages(profile, other, objects, phases, first_process), cleanup);
  merge_summary(&profile->summary, &other->summary);
cleanup:
  lmi_free(ctx, objects);
  lmi_free(ctx, phases);
  return status;
}
