/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles on disk: what is written comes back, and whatever else lies in a file or folder ends in one clear sentence.
 */
#define _POSIX_C_SOURCE 200809L
#include "support/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/profile_store.h"
#include "support/failing_allocator.h"

static lamina_context *open_context(void)
{
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  return ctx;
}

/* An earlier run of the case may have left it, with the same files in it. */
static void make_folder(const char *path)
{
  assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
}

static const lamina_profile_frame frames[] = {{"/bin/a b%c", 0x10da, "make grid (a.c:3)"}, {"", 7, ""}};

/* One process with two objects, two phases, two pages. */
static lamina_status fill(lamina_profile *profile, int pid)
{
  uint64_t slices[3] = {5, 0, 7};
  profile->summary.slice_count = 3;
  profile->summary.slice_instructions = 1000;
  profile->summary.sample_period = 0;
  lamina_profile_process process = {.command = "a.out 1\n2",
                                    .ended = "exit 0",
                                    .pid = pid,
                                    .parent = 1,
                                    .rank = -1,
                                    .footprint_bytes = 8192,
                                    .counts = lmi_counts_none()};
  process.counts.of[LAMINA_COUNT_INSTRUCTIONS] = 3000;
  lamina_profile_phase phase = {.name = "solve it", .seconds = 0.25, .counts = lmi_counts_none()};
  for (int tier = 0; tier < LAMINA_TIERS_MAX; tier++)
    phase.tier_lines[tier] = LAMINA_UNCOUNTED;
  phase.counts.of[LAMINA_COUNT_FP_F64X4] = 10;
  const lamina_profile_object object = {.name = "grid",
                                        .kind = LAMINA_OBJECT_HEAP,
                                        .blocks = 1,
                                        .bytes_total = 100,
                                        .bytes_peak = 100,
                                        .last_release = LAMINA_UNCOUNTED,
                                        .accesses = 9,
                                        .misses = 12,
                                        .writebacks = 4,
                                        .frame_count = 2,
                                        .frames = frames,
                                        .slice_misses = slices};
  size_t phase_index = 0, object_index = 0;
  LMI_TRY(lmi_memory_profile_add_process(profile, &process, NULL));
  LMI_TRY(lmi_memory_profile_add_phase(profile, &phase, &phase_index));
  LMI_TRY(lmi_memory_profile_add_object(profile, &object, &object_index));
  const int16_t place = (int16_t)(profile->processes.count - 1);
  for (uint64_t n = 0; n < 2; n++) {
    const lmi_profile_page page = {
      .number = 0x7f00 + n, .touched = n + 1, .object = (uint32_t)object_index, .process = place, .tier = -1};
    const lmi_profile_page_counts counts = {
      .phase = (uint32_t)phase_index, .accesses = 4 + n, .misses = 6, .writebacks = 2};
    LMI_TRY(lmi_memory_profile_add_page(profile, &page));
    LMI_TRY(lmi_memory_profile_add_page_counts(profile, &counts));
  }
  return lmi_memory_profile_add_remark(profile, "100 %% sure");
}

static lamina_status write_one(lamina_context *ctx, const char *path, int pid)
{
  lamina_profile *profile = NULL;
  LMI_TRY(lmi_memory_profile_create(ctx, LAMINA_SOURCE_TRACE, &profile));
  lamina_status status = fill(profile, pid);
  if (status == LAMINA_OK)
    status = lmi_memory_profile_write(profile, path);
  lamina_profile_destroy(profile);
  return status;
}

static void check_contents(const lamina_profile *profile)
{
  size_t count;
  const lamina_profile_object *object = lamina_profile_objects(profile, &count);
  assert_int_equal(count, 2);
  assert_string_equal(object->name, "grid"); /* the hottest is first */
  assert_int_equal(object->frame_count, 2);
  assert_string_equal(object->frames[0].module, "/bin/a b%c");
  assert_string_equal(object->frames[1].text, "");
  assert_int_equal(object->last_release, LAMINA_UNCOUNTED);
  assert_int_equal(object->slice_misses[2], 7);
  assert_int_equal(object->page_bytes, 8192);
  const lamina_profile_phase *phases = lamina_profile_phases(profile, &count);
  assert_int_equal(count, 2);
  assert_string_equal(phases[1].name, "solve it");
  assert_true(phases[1].seconds == 0.25 && isnan(phases[0].seconds));
  assert_int_equal(lamina_counts_flops(&phases[1].counts), 40); /* four a 256-bit instruction */
  assert_int_equal(phases[1].counts.of[LAMINA_COUNT_LOADS], LAMINA_UNCOUNTED);
  assert_string_equal(lamina_profile_processes(profile, &count)->command, "a.out 1\n2");
  assert_string_equal(lamina_profile_remarks(profile, &count)[0], "100 % sure");
}

static void what_is_written_comes_back(void **state)
{
  (void)state;
  lamina_context *ctx = open_context();
  lamina_profile *profile = NULL;
  assert_int_equal(write_one(ctx, "one.profile", 4711), LAMINA_OK);
  assert_int_equal(lamina_profile_read(ctx, "one.profile", &profile), LAMINA_OK);
  check_contents(profile);
  lamina_profile_destroy(profile);
  lamina_context_destroy(ctx);
}

static void a_folder_is_one_profile(void **state)
{
  (void)state;
  lamina_context *ctx = open_context();
  lamina_profile *profile = NULL;
  size_t count;
  make_folder("run");
  assert_int_equal(write_one(ctx, "run/process.1.profile", 1), LAMINA_OK);
  assert_int_equal(write_one(ctx, "run/process.2.profile", 2), LAMINA_OK);
  assert_int_equal(lamina_profile_read(ctx, "run", &profile), LAMINA_OK);
  assert_int_equal(lamina_profile_get_summary(profile)->page_count, 4); /* address spaces stay apart */
  const lamina_profile_object *objects = lamina_profile_objects(profile, &count);
  assert_int_equal(count, 2); /* the sites of both are one object */
  assert_int_equal(objects[0].misses, 24);
  assert_int_equal(objects[0].slice_misses[0], 10);
  (void)lamina_profile_processes(profile, &count);
  assert_int_equal(count, 2);
  lamina_curve *curve = NULL;
  assert_int_equal(lamina_profile_curve(profile, &(lamina_curve_options){0}, &curve), LAMINA_OK);
  assert_int_equal(lamina_curve_bins(curve), 4);
  lamina_curve_destroy(curve);
  lamina_profile_destroy(profile);
  lamina_context_destroy(ctx);
}

static char *read_text(const char *path, size_t *size)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 16);
  *size = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  return text;
}

static void write_text(const char *path, const char *text, size_t size)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* Every shorter file is refused, whereever it ends. */
static void every_truncation_is_noticed(void **state)
{
  (void)state;
  lamina_context *ctx = open_context();
  size_t size;
  assert_int_equal(write_one(ctx, "whole.profile", 1), LAMINA_OK);
  char *text = read_text("whole.profile", &size);
  for (size_t length = 0; length < size; length++) {
    lamina_profile *profile = NULL;
    write_text("cut.profile", text, length);
    assert_int_equal(lamina_profile_read(ctx, "cut.profile", &profile), LAMINA_ERROR_CASE);
    assert_null(profile);
    assert_non_null(strstr(lamina_error_message(ctx), "cut.profile"));
    lamina_error_clear(ctx);
  }
  free(text);
  lamina_context_destroy(ctx);
}

/* Every byte changed to a few others: a result or an error, never more. */
static void damaged_bytes_do_no_harm(void **state)
{
  (void)state;
  lamina_context *ctx = open_context();
  size_t size;
  assert_int_equal(write_one(ctx, "whole.profile", 1), LAMINA_OK);
  char *text = read_text("whole.profile", &size);
  for (size_t at = 0; at < size; at++) {
    static const char others[] = {'9', '-', ' ', '\n', '%', '\0', (char)0xFF};
    const char kept = text[at];
    for (size_t i = 0; i < sizeof others; i++) {
      lamina_profile *profile = NULL;
      text[at] = others[i];
      write_text("bad.profile", text, size);
      if (lamina_profile_read(ctx, "bad.profile", &profile) != LAMINA_OK)
        assert_true(strlen(lamina_error_message(ctx)) > 0);
      lamina_error_clear(ctx);
      lamina_profile_destroy(profile);
    }
    text[at] = kept;
  }
  free(text);
  lamina_context_destroy(ctx);
}

static void expect_sentence(lamina_context *ctx, const char *path, lamina_status status, const char *part)
{
  lamina_profile *profile = NULL;
  assert_int_equal(lamina_profile_read(ctx, path, &profile), status);
  assert_null(profile);
  if (strstr(lamina_error_message(ctx), part) == NULL)
    fail_msg("'%s' is not in '%s'", part, lamina_error_message(ctx));
  lamina_error_clear(ctx);
}

static void strangers_are_told_what_is_wrong(void **state)
{
  (void)state;
  lamina_context *ctx = open_context();
  write_text("new.profile", "lamina-profile 2\n", 17);
  write_text("other.profile", "hello\n", 6);
  make_folder("empty");
  expect_sentence(ctx, "new.profile", LAMINA_ERROR_CASE, "use a newer lamina");
  expect_sentence(ctx, "other.profile", LAMINA_ERROR_CASE, "other.profile:1: not a profile");
  expect_sentence(ctx, "nowhere", LAMINA_ERROR_FILE, "nowhere");
  expect_sentence(ctx, "empty", LAMINA_ERROR_FILE, "lamina record -o empty");
  lamina_context_destroy(ctx);
}

static void a_broken_file_is_skipped_with_a_remark(void **state)
{
  (void)state;
  lamina_context *ctx = open_context();
  lamina_profile *profile = NULL;
  size_t count;
  make_folder("mixed");
  assert_int_equal(write_one(ctx, "mixed/process.1.profile", 1), LAMINA_OK);
  write_text("mixed/process.2.profile", "lamina-profile 1\nsource trace\n", 30);
  assert_int_equal(lamina_profile_read(ctx, "mixed", &profile), LAMINA_OK);
  const char *const *remarks = lamina_profile_remarks(profile, &count);
  assert_non_null(strstr(remarks[count - 1], "1 of 2 profiles skipped"));
  lamina_profile_destroy(profile);
  lamina_context_destroy(ctx);
}

static void memory_may_run_out_anywhere(void **state)
{
  (void)state;
  lamina_context *plain = open_context();
  assert_int_equal(write_one(plain, "heap.profile", 1), LAMINA_OK);
  lamina_context_destroy(plain);
  for (uint64_t n = 2;; n++) { /* the first allocation is the context's own */
    lmi_failing_allocator heap = lmi_failing_allocator_make(n);
    const lamina_allocator allocator = lmi_failing_allocator_interface(&heap);
    lamina_context_options options = lamina_context_options_default();
    options.allocator = &allocator;
    lamina_context *ctx = NULL;
    lamina_profile *profile = NULL;
    assert_int_equal(lamina_context_create(&options, &ctx), LAMINA_OK);
    const lamina_status status = lamina_profile_read(ctx, "heap.profile", &profile);
    assert_true(status == LAMINA_OK || status == LAMINA_ERROR_MEMORY);
    lamina_profile_destroy(profile);
    lamina_context_destroy(ctx);
    assert_int_equal(heap.live, 0);
    if (!heap.has_failed)
      break;
  }
}

LMI_TEST_MAIN(cmocka_unit_test(what_is_written_comes_back), cmocka_unit_test(a_folder_is_one_profile),
              cmocka_unit_test(every_truncation_is_noticed), cmocka_unit_test(damaged_bytes_do_no_harm),
              cmocka_unit_test(strangers_are_told_what_is_wrong),
              cmocka_unit_test(a_broken_file_is_skipped_with_a_remark), cmocka_unit_test(memory_may_run_out_anywhere))
