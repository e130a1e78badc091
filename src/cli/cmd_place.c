/* SPDX-License-Identifier: Apache-2.0 */
/* lamina place: what would go where if the fast tier held only so much, and what should move. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "lamina/placement.h"
#include "place_apply.h"
#include "tier_choice.h"

enum { ROWS_MOST = 20 };

struct place_values {
  bool json, all;
  double local;
  int64_t capacity;
  const char *bandwidths, *latencies, *nodes, *machine, *plan, *apply;
};

static const struct place_values defaults = {0};

static const lmi_option options[] = {
  LMI_OPTION_NUMBER(struct place_values, local, "local", "PERCENT", 0.1, 100,
                    "what the fast tier holds, percent of the peak footprint (default: 25)"),
  LMI_OPTION_BYTES(struct place_values, capacity, "capacity", "BYTES", 4096, 1e15, "the same in bytes"),
  LMI_OPTION_TEXT(struct place_values, bandwidths, "bandwidth", "FAST,SLOW",
                  "of the two tiers in GB/s (default: of the machine file, else 73,34: the testbed of SC23)"),
  LMI_OPTION_TEXT(struct place_values, latencies, "latency", "FAST,SLOW",
                  "of the two tiers in ns (default: of the machine file, else 111,202)"),
  LMI_OPTION_TEXT(struct place_values, nodes, "nodes", "FAST,SLOW",
                  "NUMA nodes of the tiers, for the plan (default: of the machine file, else 0,1)"),
  LMI_OPTION_TEXT(struct place_values, machine, "machine", "FILE",
                  "machine file with the tiers (default: machine.json if it is here)"),
  LMI_OPTION_TEXT(struct place_values, plan, "plan", "FILE", "write the plan there"),
  LMI_OPTION_TEXT(struct place_values, apply, "apply", "PLAN", "run CMD with its allocations where the plan says"),
  LMI_OPTION_FLAG(struct place_values, all, "all", "every advice, not only the first 20"),
  LMI_OPTION_FLAG(struct place_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina place run1", "the fast tier holds a quarter of the footprint",
                                       "lamina place run1 --capacity 4GiB --plan run1.plan",
                                       "writes a plan for a tier of 4 GiB", NULL};

/* ---- the tiers asked for ---- */

static lamina_status read_tiers(lmi_call *call, lmi_tier_choice *choice, lamina_replay_options *replay)
{
  const struct place_values *values = call->values;
  const lmi_tier_request request = {.bandwidths = values->bandwidths,
                                    .latencies = values->latencies,
                                    .nodes = values->nodes,
                                    .machine = values->machine};
  if (values->capacity > 0 && values->local > 0)
    return lmi_usage_error(call, "--local and --capacity both say what the fast tier holds: give one");
  LMI_TRY(lmi_choose_tiers(call, &request, choice));
  choice->tiers[0].capacity_bytes = (uint64_t)values->capacity;
  *replay = lamina_replay_options_default();
  replay->tiers = choice->tiers;
  replay->tier_count = LMI_TWO_TIERS;
  if (values->capacity == 0)
    replay->fast_percent = values->local > 0 ? values->local : 25;
  return LAMINA_OK;
}

/* ---- text ---- */

static void print_percent(double share)
{
  if (isfinite(share))
    printf("  %7.1f", 100 * share);
  else
    printf("  %7s", "-");
}

static void print_seconds(double seconds)
{
  if (isfinite(seconds))
    printf("  %10.4g", seconds);
  else
    printf("  %10s", "-");
}

static void print_phase(const lamina_replay_phase *phase)
{
  printf("%-24.24s", phase->name);
  print_percent(phase->r_access[1]);
  print_seconds(phase->bandwidth_seconds);
  print_seconds(phase->latency_seconds);
  printf("  %s\n", lamina_tier_reading_name(phase->reading[1]));
}

static void print_replay(const lamina_profile *profile, const lamina_replay *replay)
{
  const lamina_profile_summary *summary = lamina_profile_get_summary(profile);
  char peak[32], fast[32], slow[32];
  printf("footprint %s at its peak, source %s\n", lmi_format_bytes((double)replay->peak_bytes, peak),
         lamina_profile_source_name(summary->source));
  printf("model: first touch; fast tier holds %s, slow tier the rest (%s)\n",
         lmi_format_bytes((double)replay->resident_bytes[0], fast),
         lmi_format_bytes((double)replay->resident_bytes[1], slow));
  printf("slow tier: R_cap %.1f %%, R_BW %.1f %%\n\n", 100 * replay->r_cap[1], 100 * replay->r_bw[1]);
  printf("%-24s  R_access  bandwidth s  latency s  reading of the slow tier\n", "phase");
  print_phase(&replay->total);
  for (size_t i = 0; i < replay->phase_count && replay->phase_count > 1; i++)
    print_phase(&replay->phases[i]);
  printf("\n%s: %s\n", lamina_tier_reading_name(replay->total.reading[1]),
         lamina_tier_reading_text(replay->total.reading[1]));
}

static void print_advice(const lamina_profile *profile, const lamina_advice *advice)
{
  size_t count;
  char bytes[32];
  const lamina_profile_object *object = &lamina_profile_objects(profile, &count)[advice->object];
  printf("%-10s  %12s  %11.1f  %s", lamina_advice_name(advice->kind),
         lmi_format_bytes((double)object->page_bytes, bytes), advice->lines_per_page, object->name);
  if (advice->kind == LAMINA_ADVICE_SPLIT)
    printf("; hottest %.0f %% of it", 100 * advice->fraction);
  if (advice->kind == LAMINA_ADVICE_INTERLEAVE)
    printf("; pages %d:%d", advice->weights[0], advice->weights[1]);
  if (advice->kind == LAMINA_ADVICE_FREE)
    printf("; last used at %.0f %% of the run", advice->last_use_percent);
  printf("\n");
}

static void print_plan(const lmi_call *call, const lamina_profile *profile, const lamina_plan *plan,
                       const lmi_tier_choice *choice)
{
  char text[320];
  const struct place_values *values = call->values;
  const size_t rows = values->all || plan->count < ROWS_MOST ? plan->count : ROWS_MOST;
  printf("tiers: %s\n", lmi_tier_text(choice, text, sizeof text));
  print_replay(profile, plan->before);
  if (plan->count == 0) {
    printf("\nnothing to move: the fast tier holds all, or no object would gain\n");
    return;
  }
  printf("\n%-10s  %12s  %11s  object\n", "advice", "size", "lines/page");
  for (size_t i = 0; i < rows; i++)
    print_advice(profile, &plan->advice[i]);
  if (rows < plan->count)
    printf("... and %zu more (--all)\n", plan->count - rows);
  printf("\nwith it: R_access of the slow tier %.1f %% -> %.1f %%, bandwidth model %.4g s -> %.4g s\n",
         100 * plan->before->total.r_access[1], 100 * plan->after->total.r_access[1],
         plan->before->total.bandwidth_seconds, plan->after->total.bandwidth_seconds);
  if (plan->is_latency_bound)
    printf(
      "the program waits for latency (prefetch coverage below 1 %%): the fast tier is filled with all that fits\n");
}

/* ---- JSON ---- */

static json_t *phase_json(const lamina_replay_phase *phase)
{
  json_t *object =
    json_pack("{s:s, s:I, s:I, s:s}", "name", phase->name, "fast_lines", (json_int_t)phase->lines[0], "slow_lines",
              (json_int_t)phase->lines[1], "reading", lamina_tier_reading_name(phase->reading[1]));
  json_object_set_new(object, "r_access", lmi_json_number(phase->r_access[1]));
  json_object_set_new(object, "bandwidth_seconds", lmi_json_number(phase->bandwidth_seconds));
  json_object_set_new(object, "latency_seconds", lmi_json_number(phase->latency_seconds));
  return object;
}

static json_t *replay_json(const lamina_replay *replay)
{
  json_t *phases = json_array();
  for (size_t i = 0; i < replay->phase_count; i++)
    json_array_append_new(phases, phase_json(&replay->phases[i]));
  return json_pack("{s:s, s:I, s:I, s:f, s:f, s:o, s:o}", "model", "first touch, no migration", "peak_bytes",
                   (json_int_t)replay->peak_bytes, "fast_bytes", (json_int_t)replay->resident_bytes[0], "r_cap",
                   replay->r_cap[1], "r_bw", replay->r_bw[1], "total", phase_json(&replay->total), "phases", phases);
}

static json_t *advice_json(const lamina_profile *profile, const lamina_advice *advice)
{
  size_t count;
  const lamina_profile_object *object = &lamina_profile_objects(profile, &count)[advice->object];
  json_t *made =
    json_pack("{s:s, s:s, s:s, s:I, s:i, s:f, s:f}", "kind", lamina_advice_name(advice->kind), "why",
              lamina_advice_text(advice->kind), "object", object->name, "bytes", (json_int_t)object->page_bytes, "tier",
              advice->tier, "fraction", advice->fraction, "lines_per_page", advice->lines_per_page);
  if (advice->kind == LAMINA_ADVICE_INTERLEAVE)
    json_object_set_new(made, "weights", json_pack("[i, i]", advice->weights[0], advice->weights[1]));
  if (advice->kind == LAMINA_ADVICE_FREE)
    json_object_set_new(made, "last_use_percent", lmi_json_number(advice->last_use_percent));
  return made;
}

static lamina_status print_plan_json(lmi_call *call, const lamina_profile *profile, const lamina_plan *plan,
                                     const lmi_tier_choice *choice)
{
  char text[320];
  json_t *rows = json_array();
  for (size_t i = 0; i < plan->count; i++)
    json_array_append_new(rows, advice_json(profile, &plan->advice[i]));
  return lmi_print_json(call, json_pack("{s:s, s:o, s:o, s:b, s:o}", "tiers", lmi_tier_text(choice, text, sizeof text),
                                        "before", replay_json(plan->before), "after", replay_json(plan->after),
                                        "latency_bound", plan->is_latency_bound, "advice", rows));
}

/* ---- the command ---- */

static lamina_status place(lmi_call *call, const lamina_profile *profile, const lamina_replay_options *replay,
                           const lmi_tier_choice *choice)
{
  const struct place_values *values = call->values;
  lamina_plan *plan = NULL;
  lamina_status status = lamina_profile_plan(profile, replay, &plan);
  if (status == LAMINA_OK && values->plan != NULL)
    status = lamina_plan_write(profile, plan, replay, values->plan);
  if (status == LAMINA_OK && values->json)
    status = print_plan_json(call, profile, plan, choice);
  else if (status == LAMINA_OK)
    print_plan(call, profile, plan, choice);
  lamina_plan_destroy(call->ctx, plan);
  return status;
}

static lamina_status place_run(lmi_call *call)
{
  lmi_tier_choice choice;
  lamina_replay_options replay;
  lamina_profile *profile = NULL;
  const struct place_values *values = call->values;
  if ((values->apply != NULL) != (call->program_count > 0) || (values->apply == NULL) != (call->argument_count > 0))
    return lmi_usage_error(call, "give a PROFILE, or --apply PLAN and a program behind --");
  if (values->apply != NULL)
    return lmi_place_apply(call, values->apply);
  LMI_TRY(lmi_call_open(call, 0));
  LMI_TRY(read_tiers(call, &choice, &replay));
  LMI_TRY(lmi_input_status(lamina_profile_read(call->ctx, call->arguments[0], &profile)));
  const lamina_status status = place(call, profile, &replay, &choice);
  lamina_profile_destroy(profile);
  return status;
}

const lmi_command lmi_command_place = {
  .name = "place",
  .summary = "says which objects belong in the fast tier of memory",
  .group = LMI_GROUP_MEASURE,
  .flags = LMI_TAKES_PROGRAM,
  .arguments = "[PROFILE]",
  .least = 0,
  .most = 1,
  .options = options,
  LMI_VALUES(defaults),
  .description = "Reads a profile (lamina record --source trace), plays its first touches into a fast tier\n"
                 "of limited capacity and a slow one, and reads the slow tier's share of the traffic\n"
                 "against its shares of capacity and bandwidth. Then a knapsack over objects and time says\n"
                 "what to allocate first, split, spread, move away or free earlier. All of it is a model.\n"
                 "With --apply a preloaded library puts the blocks of a page or more from the plan's sites\n"
                 "where the plan says (mbind, preferred), and counts where their pages really lie.",
  .examples = examples,
  .run = place_run,
};
