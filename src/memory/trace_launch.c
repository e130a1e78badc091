/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "trace_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lamina/record.h"

#include "sysfs.h"

static const char TOOL[] = "lamina-amd64-linux";
enum { LINE_BYTES = 64, WAYS_MAX = 16, SETS_MAX = 262144 };
static const uint64_t BELIEVABLE_LLC = UINT64_C(64) << 20, USUAL_LLC = UINT64_C(32) << 20;

/* ---- where things are ---- */

static bool has_tool(const char *folder, char *path, size_t size)
{
  if (folder == NULL || *folder == '\0')
    return false;
  const int length = snprintf(path, size, "%s/%s", folder, TOOL);
  return length > 0 && (size_t)length < size && access(path, X_OK) == 0;
}

/* $LAMINA_TRACER, the build folder, the installed folder; NULL when none holds the tool. */
static const char *tool_folder(void)
{
  char path[4096];
  const char *const folders[] = {getenv("LAMINA_TRACER"), LMI_TRACER_BUILT, LMI_TRACER_INSTALLED};
  for (size_t i = 0; i < LMI_COUNT(folders); i++)
    if (has_tool(folders[i], path, sizeof path))
      return folders[i];
  return NULL;
}

bool lmi_trace_is_available(char *reason, size_t size)
{
  char path[4096];
  const char *why = NULL;
  if (!lamina_find_program("valgrind", path, sizeof path))
    why = "valgrind is not installed (Debian: apt-get install valgrind)";
  else if (tool_folder() == NULL)
    why = "this lamina was built without its tracer (valgrind's headers were missing then): install valgrind and build "
          "again, "
          "or set LAMINA_TRACER to the folder that holds lamina-amd64-linux";
  if (size > 0)
    snprintf(reason, size, "%s", why != NULL ? why : "");
  return why == NULL;
}

/* ---- caches ---- */

typedef struct cache {
  uint64_t bytes, ways;
} cache;

/* A data or unified cache of the first processor; false when the machine does not tell. */
static bool read_cache(const char *root, int level, cache *found)
{
  for (int index = 0; index < 8; index++) {
    static const char folder[] = "/sys/devices/system/cpu/cpu0/cache/index";
    char type[32], size[32];
    int64_t its_level, ways, kib;
    char *end;
    if (!lmi_sysfs_int64(root, &its_level, "%s%d/level", folder, index) || its_level != level ||
        !lmi_sysfs_text(root, type, sizeof type, "%s%d/type", folder, index) || strcmp(type, "Instruction") == 0 ||
        !lmi_sysfs_text(root, size, sizeof size, "%s%d/size", folder, index))
      continue;
    kib = strtoll(size, &end, 10);
    if (kib <= 0 || *end != 'K' || kib > INT32_MAX)
      continue;
    if (!lmi_sysfs_int64(root, &ways, "%s%d/ways_of_associativity", folder, index) || ways < 1)
      ways = WAYS_MAX;
    *found = (cache){.bytes = (uint64_t)kib << 10, .ways = (uint64_t)ways};
    return true;
  }
  return false;
}

/* The nearest cache the model can hold: sets a power of two, at most 16 ways, no larger than asked. */
static cache fit(cache wanted)
{
  const uint64_t lines = wanted.bytes / LINE_BYTES;
  uint64_t sets = 1;
  if (wanted.ways <= WAYS_MAX && lines % wanted.ways == 0 && ((lines / wanted.ways) & (lines / wanted.ways - 1)) == 0 &&
      lines / wanted.ways <= SETS_MAX)
    return wanted;
  while (sets < SETS_MAX && lines / sets > WAYS_MAX)
    sets *= 2;
  const uint64_t ways = lines / sets < 1 ? 1 : lines / sets > WAYS_MAX ? WAYS_MAX : lines / sets;
  return (cache){.bytes = sets * ways * LINE_BYTES, .ways = ways};
}

/* "SIZE,WAYS" as the tool takes it, so that a mistake is met here: 48K,12. */
static bool is_geometry(const char *text)
{
  char *end;
  uint64_t bytes = strtoull(text, &end, 10);
  if (end == text || *text == '-' || bytes > UINT32_MAX)
    return false;
  if (*end == 'K' || *end == 'M')
    bytes <<= *end++ == 'K' ? 10 : 20;
  const char *ways_text = end + 1;
  if (*end != ',' || *ways_text < '0' || *ways_text > '9')
    return false;
  const uint64_t ways = strtoull(ways_text, &end, 10);
  const uint64_t sets = ways > 0 ? bytes / LINE_BYTES / ways : 0;
  return *end == '\0' && ways <= WAYS_MAX && sets > 0 && sets <= SETS_MAX && (sets & (sets - 1)) == 0 &&
         sets * ways * LINE_BYTES == bytes;
}

static lamina_status check_caches(lamina_context *ctx, const lmi_trace_options *options)
{
  const char *const given[] = {options->l1, options->l2, options->llc};
  static const char *const names[] = {"L1", "L2", "LLC"};
  for (size_t i = 0; i < LMI_COUNT(given); i++)
    LMI_REQUIRE(
      ctx, given[i] == NULL || (i == 1 && strcmp(given[i], "none") == 0) || is_geometry(given[i]),
      LAMINA_ERROR_ARGUMENT,
      "%s cache '%s': SIZE,WAYS with 1 to 16 ways and SIZE / 64 / WAYS a power of two up to 262144, as in 48K,12",
      names[i], given[i]);
  return LAMINA_OK;
}

typedef struct level {
  const char *option, *name, *given;
  int number;
  cache usual;
} level;

/* "--l1=49152,12" into `option`, and a few words for people into `words`. */
static void choose_cache(const lmi_trace_options *options, const level *which, char *option, size_t option_size,
                         char *words, size_t words_size)
{
  const char *root = options->root != NULL ? options->root : "";
  char size[32];
  cache found = which->usual;
  const char *why = "usual size, the machine tells none";
  if (which->given != NULL) {
    snprintf(option, option_size, "--%s=%s", which->option, which->given);
    snprintf(words, words_size, "%s %s as given", which->name, which->given);
    return;
  }
  if (read_cache(root, which->number, &found))
    why = "this machine's";
  if (which->number == 3 && found.bytes > BELIEVABLE_LLC) {
    found = (cache){.bytes = USUAL_LLC, .ways = WAYS_MAX};
    why = "assumed: the machine claims more than 64 MiB, as virtual machines do";
  }
  const cache used = fit(found);
  snprintf(option, option_size, "--%s=%llu,%llu", which->option, (unsigned long long)used.bytes,
           (unsigned long long)used.ways);
  snprintf(words, words_size, "%s %s (%s)", which->name, lmi_format_bytes((double)used.bytes, size), why);
}

/* ---- the command ---- */

enum { CACHES = 3, FIXED_MOST = 20 };

static lamina_status check_program(lamina_context *ctx, const char *name, lmi_trace_launch *launch)
{
  char path[4096];
  lmi_evex_found found;
  if (!lamina_find_program(name, path, sizeof path)) /* the launcher of the program says so */
    return LAMINA_OK;
  LMI_TRY(lmi_find_evex(ctx, path, &found));
  if (found.instructions > 0)
    return lmi_fail(ctx, LAMINA_UNAVAILABLE,
                    "%s holds %llu AVX-512 instructions (the first in %s), which Valgrind cannot run: build it with "
                    "-mno-avx512f, or use --source clock",
                    path, (unsigned long long)found.instructions,
                    found.function[0] != '\0' ? found.function : "an unnamed part");
  if (access(path, R_OK) != 0)
    snprintf(launch->warning, sizeof launch->warning, "%.400s cannot be read: whether it needs AVX-512 is not known",
             path);
  return LAMINA_OK;
}

static lamina_status append(lamina_context *ctx, lmi_trace_launch *launch, size_t *count, const char *argument)
{
  return lmi_string_copy(ctx, argument, &launch->argv[(*count)++]);
}

static lamina_status append_program(lamina_context *ctx, lmi_trace_launch *launch, size_t *count, char *const command[])
{
  for (size_t i = 0; command[i] != NULL; i++)
    LMI_TRY(append(ctx, launch, count, command[i]));
  return LAMINA_OK;
}

static lamina_status build_command(lamina_context *ctx, const lmi_trace_options *options, char *const command[],
                                   lmi_trace_launch *launch)
{
  const level levels[CACHES] = {{"l1", "L1", options->l1, 1, {48 << 10, 12}},
                                {"l2", "L2", options->l2, 2, {2 << 20, 16}},
                                {"llc", "LLC", options->llc, 3, {32 << 20, 16}}};
  /* Fair turns: what threads share in the last-level cache must not hang on the mood of the scheduler. Unrolled loops
   * make fewer records. The synonym also finds the malloc of a static program. */
  const char *const fixed[] = {"valgrind",
                               "--tool=lamina",
                               "-q",
                               "--fair-sched=yes",
                               "--trace-children=yes",
                               "--read-inline-info=yes",
                               "--vex-iropt-unroll-thresh=400",
                               "--soname-synonyms=somalloc=NONE"};
  char text[4200], words[CACHES][96];
  size_t count = 0;
  for (size_t i = 0; i < LMI_COUNT(fixed); i++)
    LMI_TRY(append(ctx, launch, &count, fixed[i]));
  snprintf(text, sizeof text, "--folder=%s", options->folder);
  LMI_TRY(append(ctx, launch, &count, text));
  for (size_t i = 0; i < CACHES; i++) {
    choose_cache(options, &levels[i], text, sizeof text, words[i], sizeof words[i]);
    LMI_TRY(append(ctx, launch, &count, text));
  }
  snprintf(launch->caches, sizeof launch->caches, "%s, %s, %s", words[0], words[1], words[2]);
  LMI_TRY(append(ctx, launch, &count, options->no_stream_prefetch ? "--stream-prefetch=no" : "--stream-prefetch=yes"));
  LMI_TRY(
    append(ctx, launch, &count, options->no_adjacent_prefetch ? "--adjacent-prefetch=no" : "--adjacent-prefetch=yes"));
  LMI_TRY(append(ctx, launch, &count, "--"));
  LMI_ASSERT(count <= FIXED_MOST);
  return append_program(ctx, launch, &count, command);
}

lamina_status lmi_trace_prepare(lamina_context *ctx, const lmi_trace_options *options, char *const command[],
                                lmi_trace_launch *launch)
{
  lamina_status status = LAMINA_OK;
  char reason[512], path[4096];
  size_t length = 0, count = 0;
  *launch = (lmi_trace_launch){.variable = "VALGRIND_LIB"};
  LMI_REQUIRE(ctx, command[0] != NULL, LAMINA_ERROR_ARGUMENT, "no program to trace");
  LMI_REQUIRE(ctx, lmi_trace_is_available(reason, sizeof reason), LAMINA_UNAVAILABLE, "%s", reason);
  LMI_REQUIRE(ctx, strlen(options->folder) < 4096, LAMINA_ERROR_ARGUMENT,
              "the name of the folder is longer than 4096 bytes");
  LMI_TRY(check_caches(ctx, options));
  LMI_TRY(check_program(ctx, command[0], launch));
  while (command[length] != NULL)
    length++;
  LMI_TRY_GOTO(status, LMI_ALLOC(ctx, length + FIXED_MOST + 1, &launch->argv), cleanup);
  LMI_TRY_GOTO(status, lmi_string_copy(ctx, tool_folder(), &launch->value), cleanup);
  if (lamina_find_program(command[0], path, sizeof path))
    LMI_TRY_GOTO(status, build_command(ctx, options, command, launch), cleanup);
  else /* a program that is not there is told as without a tracer: its own exec fails */
    LMI_TRY_GOTO(status, append_program(ctx, launch, &count, command), cleanup);
  return LAMINA_OK;
cleanup:
  lmi_trace_launch_free(ctx, launch);
  return status;
}

void lmi_trace_launch_free(lamina_context *ctx, lmi_trace_launch *launch)
{
  for (size_t i = 0; launch->argv != NULL && launch->argv[i] != NULL; i++)
    lmi_free(ctx, launch->argv[i]);
  lmi_free(ctx, (void *)launch->argv);
  lmi_free(ctx, launch->value);
  launch->argv = NULL;
  launch->value = NULL;
}
