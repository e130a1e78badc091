/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of a profile: docs/dev/memory-profile-format.md. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile_store.h"

typedef struct writer {
  FILE *file;
  uint64_t lines, bytes;
} writer;

static void put(writer *out, const char *format, ...) LMI_PRINTF(2, 3);

static void put(writer *out, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int written = vfprintf(out->file, format, arguments);
  va_end(arguments);
  out->bytes += written > 0 ? (uint64_t)written : 0;
}

static void end_line(writer *out)
{
  put(out, "\n");
  out->lines++;
}

/* A field of free text: blanks, control characters and '%' as %XX; the empty text as a lone '%'. */
static void put_text(writer *out, const char *text)
{
  if (*text == '\0')
    put(out, "%%");
  for (; *text != '\0'; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c > ' ' && c != '%' && c != 0x7F)
      put(out, "%c", c);
    else
      put(out, "%%%02X", c);
  }
}

static void put_number(writer *out, uint64_t value)
{
  if (value == LAMINA_UNCOUNTED)
    put(out, " -");
  else
    put(out, " %llu", (unsigned long long)value);
}

static void put_real(writer *out, double value)
{
  char text[64];
  put(out, " %s", isnan(value) ? "-" : lmi_format_double(value, text));
}

static void put_counts(writer *out, const char *keyword, const lamina_counts *counts)
{
  put(out, "%s", keyword);
  for (int i = 0; i < LAMINA_COUNT_COUNT; i++)
    if (counts->of[i] != LAMINA_UNCOUNTED)
      put(out, " %s=%llu", lamina_count_name((lamina_count)i), (unsigned long long)counts->of[i]);
  end_line(out);
}

static void put_head(writer *out, const lamina_profile *profile)
{
  const lamina_profile_summary *summary = &profile->summary;
  put(out, "lamina-profile 1");
  end_line(out);
  put(out, "source %s", lamina_profile_source_name(summary->source));
  end_line(out);
  put(out, "sample_period");
  put_number(out, summary->sample_period);
  end_line(out);
  put(out, "sample_count");
  put_number(out, summary->sample_count);
  end_line(out);
  put(out, "page_bytes %llu", (unsigned long long)summary->page_bytes);
  end_line(out);
  put(out, "model ");
  put_text(out, summary->model);
  end_line(out);
  put(out, "slices %llu %llu", (unsigned long long)summary->slice_count,
      (unsigned long long)summary->slice_instructions);
  end_line(out);
  put(out, "tiers %d", summary->tier_count);
  end_line(out);
}

static void put_phase(writer *out, const lamina_profile_phase *phase, int tier_count)
{
  put(out, "phase ");
  put_text(out, phase->name);
  put_real(out, phase->seconds);
  end_line(out);
  put_counts(out, "phase_counts", &phase->counts);
  if (tier_count == 0)
    return;
  put(out, "phase_tiers");
  for (int tier = 0; tier < tier_count; tier++)
    put_number(out, phase->tier_lines[tier]);
  end_line(out);
}

static void put_object(writer *out, const lamina_profile_object *object, uint64_t slice_count)
{
  const uint64_t numbers[] = {object->blocks,     object->bytes_total, object->bytes_peak,
                              object->first_time, object->last_use,    object->last_release,
                              object->accesses,   object->misses,      object->writebacks};
  put(out, "object %s", lamina_object_kind_name(object->kind));
  for (size_t i = 0; i < LMI_COUNT(numbers); i++)
    put_number(out, numbers[i]);
  put(out, " ");
  put_text(out, object->name);
  end_line(out);
  for (size_t i = 0; i < object->frame_count; i++) {
    put(out, "frame %llx ", (unsigned long long)object->frames[i].address);
    put_text(out, object->frames[i].module);
    put(out, " ");
    put_text(out, object->frames[i].text);
    end_line(out);
  }
  if (object->slice_misses == NULL)
    return;
  put(out, "slice_misses");
  for (uint64_t slice = 0; slice < slice_count; slice++)
    if (object->slice_misses[slice] > 0)
      put(out, " %llu=%llu", (unsigned long long)slice, (unsigned long long)object->slice_misses[slice]);
  end_line(out);
}

static void put_page_counts(writer *out, const lmi_profile_page_counts *counts)
{
  const uint64_t writebacks = counts->writebacks == UINT32_MAX ? LAMINA_UNCOUNTED : counts->writebacks;
  const uint64_t numbers[] = {counts->accesses, counts->misses, writebacks};
  put(out, " %u", counts->phase);
  for (size_t i = 0; i < LMI_COUNT(numbers); i++)
    if (numbers[i] == LAMINA_UNCOUNTED)
      put(out, ":-");
    else
      put(out, ":%llu", (unsigned long long)numbers[i]);
}

static void put_page(writer *out, const lamina_profile *profile, const lmi_profile_page *page)
{
  put(out, "page %llx %llu %llu %u", (unsigned long long)page->number, (unsigned long long)page->touched,
      (unsigned long long)page->released, page->object);
  put_number(out, page->tier < 0 ? LAMINA_UNCOUNTED : (uint64_t)page->tier);
  for (uint32_t i = 0; i < page->count_count; i++)
    put_page_counts(out, &profile->counts.data[page->first_count + i]);
  end_line(out);
}

static void put_process(writer *out, const lamina_profile *profile, size_t index)
{
  const lamina_profile_process *process = &profile->processes.data[index];
  put(out, "process %d %d %d", process->pid, process->parent, process->rank);
  put_number(out, process->footprint_bytes);
  put(out, " ");
  put_text(out, process->ended);
  put(out, " ");
  put_text(out, process->command);
  end_line(out);
  put_counts(out, "process_counts", &process->counts);
  for (size_t i = 0; i < profile->threads.count; i++)
    if (profile->threads.data[i].process == (int)index) {
      put(out, "thread %d", profile->threads.data[i].id);
      end_line(out);
      put_counts(out, "thread_counts", &profile->threads.data[i].counts);
    }
  for (size_t i = 0; i < profile->pages.count; i++)
    if (profile->pages.data[i].process == (int)index)
      put_page(out, profile, &profile->pages.data[i]);
}

static void put_footprint(writer *out, const lamina_footprint_point *point, int tier_count)
{
  put(out, "footprint");
  put_real(out, point->seconds);
  for (int tier = 0; tier < (tier_count > 0 ? tier_count : 1); tier++)
    put_number(out, point->tier_bytes[tier]);
  end_line(out);
}

static void put_profile(writer *out, const lamina_profile *profile)
{
  const int tiers = profile->summary.tier_count;
  put_head(out, profile);
  for (size_t i = 0; i < profile->phases.count; i++)
    put_phase(out, &profile->phases.data[i], tiers);
  for (size_t i = 0; i < profile->objects.count; i++)
    put_object(out, &profile->objects.data[i], profile->summary.slice_count);
  for (size_t i = 0; i < profile->processes.count; i++)
    put_process(out, profile, i);
  for (size_t i = 0; i < profile->footprint.count; i++)
    put_footprint(out, &profile->footprint.data[i], tiers);
  for (size_t i = 0; i < profile->remarks.count; i++) {
    put(out, "remark ");
    put_text(out, profile->remarks.data[i]);
    end_line(out);
  }
  put(out, "end %llu %llu\n", (unsigned long long)out->lines, (unsigned long long)out->bytes);
}

/* Everything reached the disk. */
static bool finish(FILE *file)
{
  const bool is_whole = fflush(file) == 0 && ferror(file) == 0 && fsync(fileno(file)) == 0;
  return fclose(file) == 0 && is_whole;
}

lamina_status lmi_memory_profile_write(const lamina_profile *profile, const char *path)
{
  lamina_context *ctx = profile->ctx;
  lamina_status status = LAMINA_OK;
  lmi_text partial = {0};
  LMI_TRY(lmi_text_append(ctx, &partial, "%s.partial", path));
  writer out = {.file = fopen(partial.data, "w")};
  if (out.file == NULL) {
    status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s: cannot be written", partial.data);
    goto cleanup;
  }
  put_profile(&out, profile);
  if (!finish(out.file) || rename(partial.data, path) != 0) {
    status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s: writing the profile failed", path);
    unlink(partial.data);
  }
cleanup:
  lmi_text_free(ctx, &partial);
  return status;
}
