/* SPDX-License-Identifier: Apache-2.0 */
/* A share of the footprint in the pool: the local node is filled until only the rest of the footprint fits, and the
 * kernel's first touch does the placing, as in the paper. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interference_study.h"
#include "lamina/tiers.h"
#include "memory/node_filler.h"

enum { CORRECTIONS = 3 };
static const double SHARE_SLACK = 3; /* points of percent */

static int first_node_of(const lamina_machine *machine, int tier, bool needs_processors)
{
  for (size_t i = 0; i < machine->node_count; i++)
    if (machine->nodes[i].tier == tier && (!needs_processors || machine->nodes[i].processors > 0))
      return machine->nodes[i].id;
  return LAMINA_NODE_ANY;
}

static lamina_status check_node(lamina_context *ctx, const lamina_machine *machine, int id, const char *what)
{
  const lamina_node *node = lamina_machine_node(machine, id);
  LMI_REQUIRE(ctx, id == LAMINA_NODE_ANY || (node != NULL && node->capacity_bytes > 0), LAMINA_ERROR_ARGUMENT,
              "the %s node %d is no NUMA node with memory", what, id);
  return LAMINA_OK;
}

static lamina_status select_nodes(lmi_study *study, const lamina_machine *machine)
{
  const lamina_interference_plan *plan = study->plan;
  lamina_interference *result = study->result;
  LMI_TRY(check_node(study->ctx, machine, plan->local_node, "local"));
  LMI_TRY(check_node(study->ctx, machine, plan->pool_node, "pool"));
  study->local_node = plan->local_node != LAMINA_NODE_ANY ? plan->local_node : first_node_of(machine, 0, true);
  study->pool_node = plan->pool_node != LAMINA_NODE_ANY ? plan->pool_node : first_node_of(machine, 1, false);
  snprintf(result->processor, sizeof result->processor, "%s", machine->processor);
  if (machine->numa_balancing > 0)
    snprintf(result->remark, sizeof result->remark, "numa_balancing is on: the kernel may move pages by itself");
  if (plan->share_count == 0)
    snprintf(result->share_reason, sizeof result->share_reason, "no shares were asked for");
  else if (machine->node_count < 2)
    snprintf(result->share_reason, sizeof result->share_reason,
             "this machine has one memory node: there is no pool to place a share in; the injector works on the same "
             "memory as the program");
  else if (study->pool_node == LAMINA_NODE_ANY || study->pool_node == study->local_node)
    snprintf(result->share_reason, sizeof result->share_reason,
             "all nodes are in one tier: say which one is to be the pool with --pool-node");
  if (result->share_reason[0] != '\0')
    study->local_node = study->pool_node = LAMINA_NODE_ANY;
  return LAMINA_OK;
}

lamina_status lmi_study_find_nodes(lmi_study *study)
{
  lamina_machine *machine = NULL;
  LMI_TRY(lamina_machine_inspect(study->ctx, NULL, &machine));
  const lamina_status status = select_nodes(study, machine);
  lamina_machine_destroy(study->ctx, machine);
  return status;
}

/* Caches, page tables and the kernel's reserve take of what is left, too: what came out corrects what is left. */
static lamina_status fill_for_share(lmi_study *study, double share, double footprint, lmi_node_filler *filler,
                                    double *achieved)
{
  double leave = (1 - 0.01 * share) * footprint;
  for (int round = 0;; round++) {
    lmi_program_result run;
    LMI_TRY(lmi_node_filler_open(study->ctx, study->local_node, (uint64_t)fmax(0, leave), filler));
    LMI_TRY(lmi_study_program(study, true, &run));
    *achieved = run.peak_bytes > 0 ? 100 * (double)run.peak_node_bytes / (double)run.peak_bytes : (double)NAN;
    if (round == CORRECTIONS || !isfinite(*achieved) || fabs(*achieved - share) <= SHARE_SLACK)
      return LAMINA_OK;
    leave += 0.01 * (*achieved - share) * footprint;
    lmi_node_filler_close(study->ctx, filler);
  }
}

static lamina_status run_share(lmi_study *study, double share, double footprint)
{
  lmi_node_filler filler = {0};
  double achieved = (double)NAN;
  char text[64];
  snprintf(text, sizeof text, "placing %g percent in the pool", share);
  lmi_study_tell(study, text);
  lamina_status status = fill_for_share(study, share, footprint, &filler, &achieved);
  if (status == LAMINA_OK && !filler.is_locked)
    snprintf(study->result->remark, sizeof study->result->remark,
             "the memory that was taken from the local node could not be locked (ulimit -l): the kernel may swap it");
  if (status == LAMINA_OK)
    status = lmi_study_levels(study, share, achieved);
  lmi_node_filler_close(study->ctx, &filler);
  return status;
}

lamina_status lmi_study_shares(lmi_study *study)
{
  lmi_program_result run;
  lmi_study_tell(study, "the footprint of the program");
  LMI_TRY(lmi_study_program(study, true, &run));
  LMI_REQUIRE(
    study->ctx, run.peak_bytes > 0, LAMINA_UNAVAILABLE,
    "the footprint of the program could not be seen (numa_maps): it cannot be shared out; leave --shares away");
  for (size_t i = 0; i < study->plan->share_count; i++)
    LMI_TRY(run_share(study, study->plan->shares[i], (double)run.peak_bytes));
  return LAMINA_OK;
}
