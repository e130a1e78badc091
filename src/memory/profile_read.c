/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text form of a profile: docs/dev/memory-profile-format.md. The file comes from elsewhere: every number is
 * checked before it is used as an index, and a file that does not end as it says it should is refused. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profile_store.h"

enum { FRAMES_MAX = 64, SLICES_MAX = 4096 };

typedef struct reader {
  lamina_context *ctx;
  lamina_profile *profile;
  const char *path;
  char *text, *end; /* whole file, ended by a zero */
  char *line;       /* what is left of the current line */
  uint64_t line_number;
  bool has_end, has_process, has_object;
  lamina_profile_object object; /* the one being read: its frames and slices follow it */
  lamina_profile_frame frames[FRAMES_MAX];
  uint64_t slices[SLICES_MAX];
} reader;

static lamina_status wrong(const reader *in, const char *what)
{
  return lmi_fail(in->ctx, LAMINA_ERROR_CASE, "%s:%llu: %s", in->path, (unsigned long long)in->line_number, what);
}

/* ---- fields ---- */

/* The next blank-separated field of the line, ended by a zero; NULL at its end. */
static char *next_field(reader *in)
{
  if (in->line == NULL || *in->line == '\0')
    return NULL;
  char *field = in->line;
  char *blank = strchr(field, ' ');
  if (blank != NULL)
    *blank = '\0';
  in->line = blank != NULL ? blank + 1 : NULL;
  return field;
}

static int digit(char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* A whole number of a base up to its first other character, which *end shows. */
static bool scan_number(const char *text, int base, uint64_t *value, const char **end)
{
  uint64_t sum = 0;
  const char *at = text;
  for (; digit(*at) < base; at++) {
    const uint64_t next = (uint64_t)digit(*at);
    if (sum > (UINT64_MAX - next) / (uint64_t)base)
      return false;
    sum = sum * (uint64_t)base + next;
  }
  *value = sum;
  *end = at;
  return at > text;
}

static bool parse_number(const char *text, int base, uint64_t *value)
{
  const char *end;
  return text != NULL && scan_number(text, base, value, &end) && *end == '\0';
}

/* "-" is uncounted. */
static bool parse_count(const char *text, uint64_t *value)
{
  if (text != NULL && strcmp(text, "-") == 0) {
    *value = LAMINA_UNCOUNTED;
    return true;
  }
  return parse_number(text, 10, value);
}

static lamina_status read_count(reader *in, uint64_t *value)
{
  return parse_count(next_field(in), value) ? LAMINA_OK : wrong(in, "a count or '-' is missing or no number");
}

static lamina_status read_real(reader *in, double *value)
{
  const char *text = next_field(in);
  *value = NAN;
  if (text != NULL && (strcmp(text, "-") == 0 || lmi_parse_double(text, value)))
    return LAMINA_OK;
  return wrong(in, "a number or '-' is missing");
}

static lamina_status read_int(reader *in, int *value)
{
  int64_t wide;
  const char *text = next_field(in);
  if (text == NULL || !lmi_parse_int64(text, &wide) || wide < INT32_MIN || wide > INT32_MAX)
    return wrong(in, "a whole number is missing or out of range");
  *value = (int)wide;
  return LAMINA_OK;
}

/* Undoes %XX in place; a lone '%' is the empty text. */
static lamina_status read_text(reader *in, const char **text)
{
  char *field = next_field(in);
  if (field == NULL)
    return wrong(in, "a text is missing");
  *text = field;
  if (strcmp(field, "%") == 0) {
    *field = '\0';
    return LAMINA_OK;
  }
  char *to = field;
  for (const char *from = field; *from != '\0'; from++, to++) {
    *to = *from;
    if (*from != '%')
      continue;
    const int high = digit(from[1]), low = high < 16 ? digit(from[2]) : 16;
    if (high == 16 || low == 16 || high + low == 0)
      return wrong(in, "a text has a broken %XX");
    *to = (char)(16 * high + low);
    from += 2;
  }
  *to = '\0';
  return LAMINA_OK;
}

/* "name=value" fields; names that this version does not know are passed over. */
static lamina_status read_counts(reader *in, lamina_counts *counts)
{
  *counts = lmi_counts_none();
  for (char *field = next_field(in); field != NULL; field = next_field(in)) {
    char *equals = strchr(field, '=');
    uint64_t value;
    if (equals == NULL || !parse_count(equals + 1, &value))
      return wrong(in, "counts are name=number");
    *equals = '\0';
    for (int i = 0; i < LAMINA_COUNT_COUNT; i++)
      if (strcmp(field, lamina_count_name((lamina_count)i)) == 0)
        counts->of[i] = value;
  }
  return LAMINA_OK;
}

/* ---- records ---- */

static lamina_status read_source(reader *in)
{
  const char *name = NULL;
  LMI_TRY(read_text(in, &name));
#define SOURCE(enumerator, value, text, description) \
  if (strcmp(name, text) == 0) {                     \
    in->profile->summary.source = enumerator;        \
    return LAMINA_OK;                                \
  }
  LAMINA_PROFILE_SOURCE_LIST(SOURCE)
#undef SOURCE
  return wrong(in, "unknown source: is the profile from a newer version?");
}

static lamina_status read_period(reader *in)
{
  return read_count(in, &in->profile->summary.sample_period);
}

static lamina_status read_samples(reader *in)
{
  return read_count(in, &in->profile->summary.sample_count);
}

static lamina_status read_page_bytes(reader *in)
{
  uint64_t *bytes = &in->profile->summary.page_bytes;
  LMI_TRY(read_count(in, bytes));
  if (*bytes < 4096 || *bytes > (UINT64_C(1) << 30) || (*bytes & (*bytes - 1)) != 0)
    return wrong(in, "page_bytes must be a power of two from 4096 to 2^30");
  return LAMINA_OK;
}

static lamina_status read_model(reader *in)
{
  const char *text = NULL;
  LMI_TRY(read_text(in, &text));
  return lmi_memory_profile_keep(in->profile, text, &in->profile->summary.model);
}

static lamina_status read_slices(reader *in)
{
  lamina_profile_summary *summary = &in->profile->summary;
  LMI_TRY(read_count(in, &summary->slice_count));
  LMI_TRY(read_count(in, &summary->slice_instructions));
  return summary->slice_count <= SLICES_MAX ? LAMINA_OK : wrong(in, "more than 4096 slices");
}

static lamina_status read_tiers(reader *in)
{
  int *count = &in->profile->summary.tier_count;
  LMI_TRY(read_int(in, count));
  return *count >= 0 && *count <= LAMINA_TIERS_MAX ? LAMINA_OK : wrong(in, "tiers: 0 to 16");
}

static lamina_status read_process(reader *in)
{
  lamina_profile_process process = {.counts = lmi_counts_none()};
  LMI_TRY(read_int(in, &process.pid));
  LMI_TRY(read_int(in, &process.parent));
  LMI_TRY(read_int(in, &process.rank));
  LMI_TRY(read_count(in, &process.footprint_bytes));
  LMI_TRY(read_text(in, &process.ended));
  LMI_TRY(read_text(in, &process.command));
  in->has_process = true;
  return lmi_memory_profile_add_process(in->profile, &process, NULL);
}

static lamina_status read_process_counts(reader *in)
{
  if (!in->has_process)
    return wrong(in, "counts of a process before any process");
  return read_counts(in, &in->profile->processes.data[in->profile->processes.count - 1].counts);
}

static lamina_status read_phase(reader *in)
{
  lamina_profile_phase phase = {.counts = lmi_counts_none()};
  for (int tier = 0; tier < LAMINA_TIERS_MAX; tier++)
    phase.tier_lines[tier] = LAMINA_UNCOUNTED;
  LMI_TRY(read_text(in, &phase.name));
  LMI_TRY(read_real(in, &phase.seconds));
  const size_t before = in->profile->phases.count;
  LMI_TRY(lmi_memory_profile_add_phase(in->profile, &phase, NULL));
  return in->profile->phases.count > before ? LAMINA_OK : wrong(in, "a phase of this name is there already");
}

static lamina_profile_phase *last_phase(reader *in)
{
  return &in->profile->phases.data[in->profile->phases.count - 1];
}

static lamina_status read_phase_counts(reader *in)
{
  if (in->profile->phases.count == 0)
    return wrong(in, "counts of a phase before any phase");
  return read_counts(in, &last_phase(in)->counts);
}

static lamina_status read_phase_tiers(reader *in)
{
  if (in->profile->phases.count == 0)
    return wrong(in, "tiers of a phase before any phase");
  for (int tier = 0; tier < in->profile->summary.tier_count; tier++)
    LMI_TRY(read_count(in, &last_phase(in)->tier_lines[tier]));
  return LAMINA_OK;
}

static lamina_status read_thread(reader *in)
{
  lamina_profile_thread thread = {.process = (int)in->profile->processes.count - 1, .counts = lmi_counts_none()};
  if (!in->has_process)
    return wrong(in, "a thread before any process");
  LMI_TRY(read_int(in, &thread.id));
  return lmi_memory_profile_add_thread(in->profile, &thread);
}

static lamina_status read_thread_counts(reader *in)
{
  if (in->profile->threads.count == 0)
    return wrong(in, "counts of a thread before any thread");
  return read_counts(in, &in->profile->threads.data[in->profile->threads.count - 1].counts);
}

/* ---- objects: kept until their frames and slices are read ---- */

static lamina_status finish_object(reader *in)
{
  if (!in->has_object)
    return LAMINA_OK;
  in->has_object = false;
  in->object.frames = in->frames;
  return lmi_memory_profile_add_object(in->profile, &in->object, NULL);
}

static bool find_kind(const char *name, lamina_object_kind *kind)
{
  for (int i = 0; i <= LAMINA_OBJECT_NAMED; i++)
    if (strcmp(name, lamina_object_kind_name((lamina_object_kind)i)) == 0) {
      *kind = (lamina_object_kind)i;
      return true;
    }
  return false;
}

static lamina_status read_object(reader *in)
{
  lamina_profile_object *object = &in->object;
  const char *kind = NULL;
  LMI_TRY(finish_object(in));
  *object = (lamina_profile_object){0};
  LMI_TRY(read_text(in, &kind));
  if (!find_kind(kind, &object->kind))
    return wrong(in, "unknown kind of object: is the profile from a newer version?");
  uint64_t *const numbers[] = {&object->blocks,     &object->bytes_total, &object->bytes_peak,
                               &object->first_time, &object->last_use,    &object->last_release,
                               &object->accesses,   &object->misses,      &object->writebacks};
  for (size_t i = 0; i < LMI_COUNT(numbers); i++)
    LMI_TRY(read_count(in, numbers[i]));
  in->has_object = true;
  return read_text(in, &object->name);
}

static lamina_status read_frame(reader *in)
{
  lamina_profile_frame *frame = &in->frames[in->object.frame_count];
  if (!in->has_object || in->object.frame_count == FRAMES_MAX)
    return wrong(in, "a frame without an object, or more than 64 of them");
  if (!parse_number(next_field(in), 16, &frame->address))
    return wrong(in, "a frame begins with its address in hexadecimal");
  LMI_TRY(read_text(in, &frame->module));
  LMI_TRY(read_text(in, &frame->text));
  in->object.frame_count++;
  return LAMINA_OK;
}

static lamina_status read_slice_misses(reader *in)
{
  if (!in->has_object)
    return wrong(in, "slices without an object");
  memset(in->slices, 0, sizeof in->slices);
  for (char *field = next_field(in); field != NULL; field = next_field(in)) {
    const char *end;
    uint64_t slice, misses;
    if (!scan_number(field, 10, &slice, &end) || *end != '=' || !parse_number(end + 1, 10, &misses) ||
        slice >= in->profile->summary.slice_count)
      return wrong(in, "slices are number=misses, below the number of slices");
    in->slices[slice] = misses;
  }
  in->object.slice_misses = in->slices;
  return LAMINA_OK;
}

/* ---- pages ---- */

static lamina_status read_page_counts(reader *in, const char *field)
{
  lmi_profile_page_counts counts = {0};
  uint64_t numbers[4];
  const char *at = field;
  for (size_t i = 0; i < LMI_COUNT(numbers); i++) {
    const bool is_uncounted = at[0] == '-';
    numbers[i] = LAMINA_UNCOUNTED;
    if (is_uncounted)
      at++;
    else if (!scan_number(at, 10, &numbers[i], &at))
      return wrong(in, "page counts are phase:accesses:misses:writebacks");
    if (*at != (i + 1 < LMI_COUNT(numbers) ? ':' : '\0'))
      return wrong(in, "page counts are phase:accesses:misses:writebacks");
    at++;
  }
  if (numbers[0] >= in->profile->phases.count)
    return wrong(in, "page counts name a phase that is not in the file");
  counts.phase = (uint32_t)numbers[0];
  counts.accesses = numbers[1];
  counts.misses = numbers[2];
  counts.writebacks = numbers[3] < UINT32_MAX ? (uint32_t)numbers[3] : UINT32_MAX;
  return lmi_memory_profile_add_page_counts(in->profile, &counts);
}

static lamina_status read_page(reader *in)
{
  lmi_profile_page page = {.process = (int16_t)(in->profile->processes.count - 1)};
  uint64_t object, tier;
  LMI_TRY(finish_object(in));
  if (!in->has_process)
    return wrong(in, "a page before any process");
  if (!parse_number(next_field(in), 16, &page.number))
    return wrong(in, "a page begins with its number in hexadecimal");
  LMI_TRY(read_count(in, &page.touched));
  LMI_TRY(read_count(in, &page.released));
  LMI_TRY(read_count(in, &object));
  LMI_TRY(read_count(in, &tier));
  if (object >= in->profile->objects.count)
    return wrong(in, "a page names an object that is not in the file");
  if (tier != LAMINA_UNCOUNTED && tier >= LAMINA_TIERS_MAX)
    return wrong(in, "a page names a tier above 15");
  page.object = (uint32_t)object;
  page.tier = tier == LAMINA_UNCOUNTED ? -1 : (int16_t)tier;
  LMI_TRY(lmi_memory_profile_add_page(in->profile, &page));
  for (char *field = next_field(in); field != NULL; field = next_field(in))
    LMI_TRY(read_page_counts(in, field));
  return LAMINA_OK;
}

static lamina_status read_footprint(reader *in)
{
  const int tiers = in->profile->summary.tier_count;
  lamina_footprint_point point = {0};
  LMI_TRY(read_real(in, &point.seconds));
  for (int tier = 0; tier < (tiers > 0 ? tiers : 1); tier++)
    LMI_TRY(read_count(in, &point.tier_bytes[tier]));
  return lmi_memory_profile_add_footprint(in->profile, &point);
}

static lamina_status read_remark(reader *in)
{
  const char *text = NULL;
  LMI_TRY(read_text(in, &text));
  return lmi_memory_profile_add_remark(in->profile, "%s", text);
}

static lamina_status read_end(reader *in)
{
  uint64_t lines, bytes;
  const uint64_t before = in->line != NULL ? (uint64_t)(in->line - in->text) - strlen("end ") : 0;
  LMI_TRY(read_count(in, &lines));
  LMI_TRY(read_count(in, &bytes));
  if (lines != in->line_number - 1 || bytes != before)
    return wrong(in, "the file is not as long as it says: it was changed or damaged");
  in->has_end = true;
  if (in->profile->phases.count == 0)
    return wrong(in, "a profile without phases");
  return finish_object(in);
}

/* ---- the file ---- */

static const struct {
  const char *keyword;
  lamina_status (*read)(reader *in);
} records[] = {
  {"page", read_page},
  {"frame", read_frame},
  {"object", read_object},
  {"slice_misses", read_slice_misses},
  {"source", read_source},
  {"sample_period", read_period},
  {"sample_count", read_samples},
  {"page_bytes", read_page_bytes},
  {"model", read_model},
  {"slices", read_slices},
  {"tiers", read_tiers},
  {"process", read_process},
  {"process_counts", read_process_counts},
  {"phase", read_phase},
  {"phase_counts", read_phase_counts},
  {"phase_tiers", read_phase_tiers},
  {"thread", read_thread},
  {"thread_counts", read_thread_counts},
  {"footprint", read_footprint},
  {"remark", read_remark},
  {"end", read_end},
};

static lamina_status read_line(reader *in)
{
  const char *keyword = next_field(in);
  if (keyword == NULL)
    return wrong(in, "an empty line");
  for (size_t i = 0; i < LMI_COUNT(records); i++)
    if (strcmp(keyword, records[i].keyword) == 0)
      return records[i].read(in);
  return lmi_memory_profile_add_remark(
    in->profile, "%s: records '%.40s' are not known to this version and were skipped", in->path, keyword);
}

/* Cuts the next line out of the text; false at the end, or when the last line lacks its newline. */
static bool next_line(reader *in, char **cursor)
{
  char *newline = memchr(*cursor, '\n', (size_t)(in->end - *cursor));
  if (newline == NULL)
    return false;
  *newline = '\0';
  in->line = *cursor;
  in->line_number++;
  *cursor = newline + 1;
  return true;
}

static lamina_status read_version(reader *in)
{
  uint64_t version;
  const char *keyword = next_field(in);
  if (keyword == NULL || strcmp(keyword, "lamina-profile") != 0 || !parse_number(next_field(in), 10, &version))
    return wrong(in, "not a profile: the first line must be 'lamina-profile 1'");
  if (version > 1)
    return lmi_fail(in->ctx, LAMINA_ERROR_CASE,
                    "%s: profile of version %llu; this program reads version 1: use a newer lamina", in->path,
                    (unsigned long long)version);
  return LAMINA_OK;
}

static lamina_status parse(reader *in)
{
  char *cursor = in->text;
  if (!next_line(in, &cursor))
    return lmi_fail(in->ctx, LAMINA_ERROR_CASE, "%s: not a profile: no line of text in it", in->path);
  LMI_TRY(read_version(in));
  while (!in->has_end && next_line(in, &cursor))
    LMI_TRY(read_line(in));
  if (!in->has_end)
    return lmi_fail(in->ctx, LAMINA_ERROR_CASE,
                    "%s: truncated after line %llu: the program that wrote it was stopped, or the disk was full",
                    in->path, (unsigned long long)in->line_number);
  if (cursor != in->end)
    return wrong(in, "there is something behind the end of the profile");
  return LAMINA_OK;
}

static lamina_status load(reader *in)
{
  struct stat status;
  FILE *file = fopen(in->path, "r");
  if (file == NULL)
    return lmi_fail_errno(in->ctx, LAMINA_ERROR_FILE, errno, "%s: cannot be read", in->path);
  lamina_status result = LAMINA_OK;
  if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
    result = lmi_fail(in->ctx, LAMINA_ERROR_FILE, "%s: not a regular file", in->path);
    goto cleanup;
  }
  const size_t bytes = (size_t)status.st_size;
  LMI_TRY_GOTO(result, lmi_alloc_array(in->ctx, bytes + 1, 1, (void **)&in->text), cleanup);
  if (fread(in->text, 1, bytes, file) != bytes)
    result = lmi_fail_errno(in->ctx, LAMINA_ERROR_FILE, errno, "%s: reading failed", in->path);
  in->end = in->text + bytes;
cleanup:
  fclose(file);
  return result;
}

/* Bytes of the pages each object owns, and its write-backs where the tracer left them to its pages. */
static lamina_status sum_pages(lamina_profile *profile)
{
  uint64_t *writebacks = NULL;
  LMI_TRY(LMI_ALLOC(profile->ctx, profile->objects.count, &writebacks));
  for (size_t i = 0; i < profile->pages.count; i++) {
    const lmi_profile_page *page = &profile->pages.data[i];
    profile->objects.data[page->object].page_bytes += profile->summary.page_bytes;
    for (uint32_t j = 0; j < page->count_count; j++)
      writebacks[page->object] += profile->counts.data[page->first_count + j].writebacks;
  }
  for (size_t i = 0; i < profile->objects.count && profile->summary.source == LAMINA_SOURCE_TRACE; i++)
    if (profile->objects.data[i].writebacks == LAMINA_UNCOUNTED)
      profile->objects.data[i].writebacks = writebacks[i];
  lmi_free(profile->ctx, writebacks);
  return LAMINA_OK;
}

lamina_status lmi_memory_profile_read_file(lamina_context *ctx, const char *path, lamina_profile **profile)
{
  lamina_status status = LAMINA_OK;
  reader *in = NULL;
  *profile = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &in));
  in->ctx = ctx;
  in->path = path;
  LMI_TRY_GOTO(status, load(in), cleanup);
  LMI_TRY_GOTO(status, lmi_memory_profile_create(ctx, LAMINA_SOURCE_TRACE, &in->profile), cleanup);
  in->profile->objects.count = in->profile->phases.count = 0; /* the file numbers its own */
  LMI_TRY_GOTO(status, parse(in), cleanup);
  LMI_TRY_GOTO(status, sum_pages(in->profile), cleanup);
  *profile = in->profile;
  in->profile = NULL;
cleanup:
  lamina_profile_destroy(in->profile);
  lmi_free(ctx, in->text);
  lmi_free(ctx, in);
  return status;
}
