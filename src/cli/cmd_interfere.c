/* SPDX-License-Identifier: Apache-2.0 */
/* lamina interfere: how much a program suffers from traffic of others, and how much it disturbs them. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "injector_file.h"
#include "lamina/interference.h"
#include "machine_table.h"
#include "number_list.h"

enum { MOST_NUMBERS = 64 };

struct interfere_values {
  bool json;
  const char *levels, *shares, *calibration, *output, *plot;
  int64_t runs, injector_threads, local_node, pool_node;
};

static const struct interfere_values defaults = {.levels = "0,10,20,30,40,50",
                                                 .shares = "25,50,75",
                                                 .calibration = "lamina-inject.json",
                                                 .runs = 5,
                                                 .local_node = LAMINA_NODE_ANY,
                                                 .pool_node = LAMINA_NODE_ANY};

static const lmi_option options[] = {
  LMI_OPTION_TEXT(struct interfere_values, levels, "levels", "LIST",
                  "levels of interference in percent; 0..50 is 0,10,...,50 (default: 0,10,20,30,40,50)"),
  LMI_OPTION_TEXT(struct interfere_values, shares, "shares", "LIST",
                  "percent of the footprint in the pool; none: as it is placed (default: 25,50,75)"),
  LMI_OPTION_INTEGER(struct interfere_values, runs, "runs", "N", 1, 1000, "runs of each point (default: 5)"),
  LMI_OPTION_INTEGER(struct interfere_values, injector_threads, "injector-threads", "N", 1, 4095,
                     "processors for the injector (default: a quarter, at least one); the program has the others"),
  LMI_OPTION_INTEGER(struct interfere_values, local_node, "local-node", "NODE", 0, 1048576,
                     "NUMA node of the program (default: the first of the fastest tier)"),
  LMI_OPTION_INTEGER(struct interfere_values, pool_node, "pool-node", "NODE", 0, 1048576,
                     "NUMA node that is the pool (default: the first of the next tier)"),
  LMI_OPTION_TEXT(struct interfere_values, calibration, "calibration", "FILE",
                  "of the injector (default: lamina-inject.json; made when missing)"),
  LMI_OPTION_TEXT(struct interfere_values, output, "output", "FILE",
                  "what the program prints (default: it is dropped)"),
  LMI_OPTION_TEXT(struct interfere_values, plot, "plot", "NAME", "draw NAME.svg; data and script are kept beside it"),
  LMI_OPTION_FLAG(struct interfere_values, json, "json", "print one JSON object; `lamina schedule` reads it"),
  {0}};

static const char *const examples[] = {"lamina interfere -- ./solver input",
                                       "sensitivity curve and interference coefficient",
                                       "lamina interfere --levels 0..50 --runs 10 --json -- ./solver > solver.json",
                                       "for lamina schedule",
                                       "lamina interfere --shares 50 --pool-node 1 --plot solver -- ./solver",
                                       "half of the footprint on node 1, and a picture",
                                       NULL};

static lamina_status show(lmi_call *call, const lamina_interference *result)
{
  const struct interfere_values *values = call->values;
  LMI_TRY(lamina_interference_print(call->ctx, result,
                                    values->json ? LAMINA_INTERFERENCE_JSON : LAMINA_INTERFERENCE_TEXT, stdout));
  if (values->plot == NULL)
    return LAMINA_OK;
  LMI_TRY(lamina_interference_plot(call->ctx, result, values->plot));
  fprintf(stderr, "lamina: wrote %s.svg (its data and script: %s.dat, %s.gp)\n", values->plot, values->plot,
          values->plot);
  return LAMINA_OK;
}

static lamina_status run_study(lmi_call *call, lamina_interference_plan *plan)
{
  const struct interfere_values *values = call->values;
  lamina_injector_calibration *calibration = NULL;
  lamina_interference *result = NULL;
  int exit_code = 0;
  const lmi_injector_file file = {
    .path = values->calibration, .threads = 0, .placement = {LAMINA_NODE_ANY, (int)values->pool_node}};
  LMI_TRY(lmi_injector_load_or_calibrate(call, &file, &calibration));
  plan->calibration = calibration;
  lamina_status status = lamina_interference_run(call->ctx, plan, &exit_code, &result);
  lmi_machine_progress_end();
  if (status == LAMINA_OK)
    status = show(call, result);
  else if (exit_code == 126) /* as a shell has it; a program that ran is judged by the study */
    call->exit_code = exit_code;
  lamina_interference_destroy(call->ctx, result);
  lamina_injector_calibration_destroy(call->ctx, calibration);
  return status;
}

static lamina_status interfere_run(lmi_call *call)
{
  const struct interfere_values *values = call->values;
  double levels[MOST_NUMBERS], shares[MOST_NUMBERS];
  lamina_interference_plan plan = lamina_interference_plan_default();
  if (call->program_count == 0)
    return lmi_usage_error(call, "there is no program; write it behind --, as in `lamina interfere -- ./program`");
  LMI_TRY(lmi_number_list(call, "levels", values->levels, (lmi_bounds){0, 100}, levels, &plan.level_count));
  plan.share_count = 0;
  if (strcmp(values->shares, "none") != 0)
    LMI_TRY(lmi_number_list(call, "shares", values->shares, (lmi_bounds){1, 99}, shares, &plan.share_count));
  LMI_TRY(lmi_call_open(call, 0));
  LMI_TRY(lmi_injector_require_program(call));
  plan.argv = call->program;
  plan.levels = levels;
  plan.shares = shares;
  plan.runs = (int)values->runs;
  plan.injector_threads = (int)values->injector_threads;
  plan.local_node = (int)values->local_node;
  plan.pool_node = (int)values->pool_node;
  plan.output = values->output;
  plan.progress = lmi_machine_progress;
  return run_study(call, &plan);
}

const lmi_command lmi_command_interfere = {
  .name = "interfere",
  .summary = "measures how a program suffers from traffic of others, and how it disturbs them",
  .group = LMI_GROUP_MEASURE,
  .flags = LMI_TAKES_PROGRAM,
  .options = options,
  LMI_VALUES(defaults),
  .description = "The program runs once beside a probe and then, in each round, once beside each level of\n"
                 "background traffic. Performance is the time without traffic over the time with it. On a\n"
                 "machine with one memory node there are no shares; the injector works on the same memory.",
  .examples = examples,
  .run = interfere_run,
};
