/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the tool. `lamina record` passes all of them; the defaults serve someone who calls valgrind by hand. */
#include "tracer.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_options.h"
#include "pub_tool_replacemalloc.h"

enum { SETS_MAX = 1 << (LMT_LEAF_BITS - 6), LINE_BYTES = 64 };

void lmt_options_default(lmt_options *options)
{
  *options = (lmt_options){
    .model = {.l1 = {.sets = 64, .ways = 12},
              .l2 = {.sets = 2048, .ways = 16},
              .llc = {.sets = 32768, .ways = 16},
              .stream_prefetch = true,
              .adjacent_prefetch = true},
    .folder = ".",
  };
}

/* "SIZE,WAYS": size in bytes, KiB or MiB (48K, 2M); or "none". */
static Bool read_geometry(const HChar *text, lmt_geometry *geometry)
{
  HChar *end;
  ULong bytes = (ULong)VG_(strtoll10)(text, &end);
  if (*end == 'K' || *end == 'M')
    bytes <<= *end++ == 'K' ? 10 : 20;
  if (*end != ',')
    return False;
  const Long ways = VG_(strtoll10)(end + 1, &end);
  if (*end != '\0' || ways < 1 || ways > LMT_WAYS_MAX)
    return False;
  const ULong sets = bytes / LINE_BYTES / (ULong)ways;
  if (sets == 0 || sets > SETS_MAX || (sets & (sets - 1)) != 0 || sets * LINE_BYTES * (ULong)ways != bytes)
    return False;
  *geometry = (lmt_geometry){.sets = (uint32_t)sets, .ways = (uint32_t)ways};
  return True;
}

static void take_geometry(const HChar *argument, const HChar *text, lmt_geometry *geometry, Bool may_be_absent)
{
  if (may_be_absent && VG_(strcmp)(text, "none") == 0)
    *geometry = (lmt_geometry){0};
  else if (!read_geometry(text, geometry))
    VG_(fmsg_bad_option)
  (argument, "SIZE,WAYS: 1 to 16 ways, and SIZE / 64 / WAYS a power of two up to 262144 (32M,16)\n");
}

Bool lmt_options_take(const HChar *argument)
{
  lmt_options *options = &tracer.options;
  const HChar *text;
  Bool flag;
  if VG_STR_CLO (argument, "--folder", options->folder) {
  } else if VG_STR_CLO (argument, "--l1", text) {
    take_geometry(argument, text, &options->model.l1, False);
  } else if VG_STR_CLO (argument, "--l2", text) {
    take_geometry(argument, text, &options->model.l2, True);
  } else if VG_STR_CLO (argument, "--llc", text) {
    take_geometry(argument, text, &options->model.llc, False);
  } else if VG_BOOL_CLO (argument, "--stream-prefetch", flag) {
    options->model.stream_prefetch = flag;
  } else if VG_BOOL_CLO (argument, "--adjacent-prefetch", flag) {
    options->model.adjacent_prefetch = flag;
  } else if VG_BOOL_CLO (argument, "--one-core", options->one_core) {
  } else {
    return (Bool)VG_(replacement_malloc_process_cmd_line_option)(argument);
  }
  return True;
}

void lmt_options_usage(void)
{
  VG_(printf)
  ("    --folder=DIR               where process.PID.profile is written [.]\n"
   "    --l1=SIZE,WAYS             first-level data cache of a thread [48K,12]\n"
   "    --l2=SIZE,WAYS|none        second-level cache of a thread [2M,16]\n"
   "    --llc=SIZE,WAYS            last-level cache, shared [32M,16]\n"
   "    --stream-prefetch=no|yes   stream prefetcher at the L2 [yes]\n"
   "    --adjacent-prefetch=no|yes other half of a 128-byte pair [yes]\n"
   "    --one-core=no|yes          all threads share one L1 and L2 [no]\n");
}

void lmt_options_debug_usage(void)
{
  VG_(printf)("    (none)\n");
}
