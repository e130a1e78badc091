/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "local_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program_run.h"
#include "trace_launch.h"

enum { POLICY_DEFAULT = 0, POLICY_PREFERRED = 1, MASK_WORDS = 64 };
static const uint64_t LEAST_LEFT = (uint64_t)64 << 20; /* a filled node keeps so much for the system */

/* The node that a program would fill first: the fastest tier's, with processors. -1: there is no second one to spill
 * to. */
static int fast_node(const lamina_machine *machine)
{
  int fast = -1, memory_nodes = 0;
  for (size_t i = 0; i < machine->node_count; i++) {
    const lamina_node *node = &machine->nodes[i];
    if (node->capacity_bytes == 0 || !node->allowed)
      continue;
    memory_nodes++;
    const lamina_node *best = fast >= 0 ? lamina_machine_node(machine, fast) : NULL;
    if (node->processors > 0 && (best == NULL || node->tier < best->tier))
      fast = node->id;
  }
  return memory_nodes >= 2 ? fast : -1;
}

lamina_status lmi_local_choose(lamina_context *ctx, const lamina_machine *machine, lamina_record_options *options,
                               lamina_record_result *result)
{
  if (options->local_percent == 0 && options->local_bytes == 0)
    return LAMINA_OK;
  LMI_REQUIRE(ctx, options->local_percent >= 0 && options->local_percent <= 100, LAMINA_ERROR_ARGUMENT,
              "%g %% of the footprint in the fast tier; 0 to 100 are allowed", options->local_percent);
  const bool can_spill = fast_node(machine) >= 0;
  if (options->source == LAMINA_RECORD_BEST && !can_spill) {
    char reason[512];
    LMI_REQUIRE(ctx, lmi_trace_is_available(reason, sizeof reason), LAMINA_UNAVAILABLE,
                "this machine has one NUMA node, so a smaller fast tier can only be modelled, and that needs the exact "
                "trace: %s",
                reason);
    options->source = LAMINA_RECORD_TRACE;
  }
  if (options->source == LAMINA_RECORD_TRACE) {
    result->local = LAMINA_LOCAL_MODEL;
    return LAMINA_OK;
  }
  LMI_REQUIRE(ctx, can_spill, LAMINA_UNAVAILABLE,
              "this machine has one NUMA node: a smaller fast tier can only be modelled, with --source trace");
  result->local = LAMINA_LOCAL_SPILL;
  return LAMINA_OK;
}

/* Inherited by the program. A refusal (a sandbox) leaves the system's own first choice, the nearest node. */
static bool prefer_node(int node)
{
  unsigned long mask[MASK_WORDS] = {0};
  const size_t bits = 8 * sizeof *mask;
  mask[(size_t)node / bits] = 1UL << ((size_t)node % bits);
  return syscall(SYS_set_mempolicy, POLICY_PREFERRED, mask, MASK_WORDS * bits) == 0;
}

static lamina_status find_footprint(lamina_context *ctx, char *const argv[], int node, uint64_t *bytes)
{
  lmi_program_result run;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0)
    return lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "/dev/null");
  const lmi_program program = {.argv = argv, .output = nowhere, .is_watched = true, .watched_node = node};
  const lamina_status status = lmi_program_run(ctx, &program, &run);
  close(nowhere);
  LMI_TRY(status);
  LMI_REQUIRE(ctx, run.start_error[0] == '\0', LAMINA_ERROR_SYSTEM, "%s", run.start_error);
  LMI_REQUIRE(ctx, run.peak_bytes > 0, LAMINA_UNAVAILABLE,
              "the footprint of %s could not be seen (it ended too soon): give the fast tier in bytes, --local 256MiB",
              argv[0]);
  *bytes = run.peak_bytes;
  return LAMINA_OK;
}

lamina_status lmi_local_start(lamina_context *ctx, const lamina_machine *machine, const lamina_record_options *options,
                              char *const argv[], lmi_local_spill *spill, lamina_record_result *result)
{
  const int node = fast_node(machine);
  *spill = (lmi_local_spill){0};
  if (result->local != LAMINA_LOCAL_SPILL)
    return LAMINA_OK;
  result->local_bytes = options->local_bytes;
  if (options->local_bytes == 0) {
    LMI_TRY(find_footprint(ctx, argv, node, &result->footprint_bytes));
    result->local_bytes = (uint64_t)(options->local_percent / 100 * (double)result->footprint_bytes);
  }
  if (result->local_bytes < LEAST_LEFT)
    result->local_bytes = LEAST_LEFT;
  LMI_TRY(lmi_node_filler_open(ctx, node, result->local_bytes, &spill->filler));
  spill->has_policy = prefer_node(node);
  return LAMINA_OK;
}

void lmi_local_stop(lamina_context *ctx, lmi_local_spill *spill)
{
  lmi_node_filler_close(ctx, &spill->filler);
  if (spill->has_policy)
    (void)syscall(SYS_set_mempolicy, POLICY_DEFAULT, NULL, 0);
  spill->has_policy = false;
}
