/* SPDX-License-Identifier: Apache-2.0 */
#include "tier_choice.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char HERE[] = "machine.json";
static const double TESTBED_GB_PER_S[LMI_TWO_TIERS] = {73, 34}, TESTBED_NS[LMI_TWO_TIERS] = {111, 202};

/* "FAST,SLOW": two numbers of at least `least`. */
static bool parse_pair(const char *text, double least, double pair[LMI_TWO_TIERS])
{
  char first[32];
  const char *comma = strchr(text, ',');
  if (comma == NULL || (size_t)(comma - text) >= sizeof first)
    return false;
  memcpy(first, text, (size_t)(comma - text));
  first[comma - text] = '\0';
  return lmi_parse_double(first, &pair[0]) && lmi_parse_double(comma + 1, &pair[1]) && pair[0] >= least &&
         pair[1] >= least;
}

static void take_testbed(lmi_tier_choice *choice)
{
  static const char *const names[LMI_TWO_TIERS] = {"fast", "slow"};
  for (int tier = 0; tier < LMI_TWO_TIERS; tier++) {
    snprintf(choice->names[tier], sizeof choice->names[tier], "%s", names[tier]);
    choice->tiers[tier] =
      (lamina_tier_model){.gb_per_s = TESTBED_GB_PER_S[tier], .latency_ns = TESTBED_NS[tier], .node = tier};
  }
  snprintf(choice->origin, sizeof choice->origin, "the testbed of SC23");
}

/* A machine with one tier gets a second one whose ratios to the first are the testbed's. */
static lamina_status take_machine(lmi_call *call, const char *path, lmi_tier_choice *choice)
{
  lamina_machine *machine = NULL;
  lamina_tier_model measured[LAMINA_TIERS_MAX];
  LMI_TRY(lamina_machine_load(call->ctx, path, &machine));
  const int count = lamina_tier_models(machine, measured);
  for (int tier = 0; tier < LMI_TWO_TIERS && tier < count; tier++) {
    snprintf(choice->names[tier], sizeof choice->names[tier], "%s", measured[tier].name);
    choice->tiers[tier] = measured[tier];
  }
  lamina_machine_destroy(call->ctx, machine);
  LMI_REQUIRE(call->ctx, count > 0, LAMINA_UNAVAILABLE,
              "%s holds no measured bandwidth and latency; measure with `lamina machine`, or give --bandwidth and "
              "--latency",
              path);
  if (count == 1) {
    snprintf(choice->names[1], sizeof choice->names[1], "slow");
    choice->tiers[1].gb_per_s = choice->tiers[0].gb_per_s * TESTBED_GB_PER_S[1] / TESTBED_GB_PER_S[0];
    choice->tiers[1].latency_ns = choice->tiers[0].latency_ns * TESTBED_NS[1] / TESTBED_NS[0];
  }
  snprintf(choice->origin, sizeof choice->origin,
           count == 1 ? "the fast tier as measured in %.64s, the slow one by the testbed's ratios"
                      : "as measured in %.64s",
           path);
  return LAMINA_OK;
}

static lamina_status take_given(lmi_call *call, const lmi_tier_request *request, lmi_tier_choice *choice)
{
  double pair[LMI_TWO_TIERS];
  if (request->bandwidths != NULL) {
    if (!parse_pair(request->bandwidths, 1e-6, pair))
      return lmi_usage_error(call, "--bandwidth %s: two numbers above 0 are needed, FAST,SLOW in GB/s",
                             request->bandwidths);
    for (int tier = 0; tier < LMI_TWO_TIERS; tier++)
      choice->tiers[tier].gb_per_s = pair[tier];
  }
  if (request->latencies != NULL) {
    if (!parse_pair(request->latencies, 1e-6, pair))
      return lmi_usage_error(call, "--latency %s: two numbers above 0 are needed, FAST,SLOW in ns", request->latencies);
    for (int tier = 0; tier < LMI_TWO_TIERS; tier++)
      choice->tiers[tier].latency_ns = pair[tier];
  }
  if (request->nodes != NULL) {
    if (!parse_pair(request->nodes, 0, pair) || pair[0] > 1023 || pair[1] > 1023)
      return lmi_usage_error(call, "--nodes %s: two node numbers from 0 to 1023 are needed", request->nodes);
    for (int tier = 0; tier < LMI_TWO_TIERS; tier++)
      choice->tiers[tier].node = (int)pair[tier];
  }
  if (request->bandwidths != NULL && request->latencies != NULL)
    snprintf(choice->origin, sizeof choice->origin, "as given");
  else if (request->bandwidths != NULL || request->latencies != NULL) {
    const size_t used = strlen(choice->origin);
    snprintf(choice->origin + used, sizeof choice->origin - used, "; %s as given",
             request->bandwidths != NULL ? "bandwidths" : "latencies");
  }
  return LAMINA_OK;
}

lamina_status lmi_choose_tiers(lmi_call *call, const lmi_tier_request *request, lmi_tier_choice *choice)
{
  const bool are_given = request->bandwidths != NULL && request->latencies != NULL;
  const char *machine = request->machine;
  if (machine == NULL && !are_given && access(HERE, R_OK) == 0)
    machine = HERE;
  take_testbed(choice);
  if (machine != NULL)
    LMI_TRY(take_machine(call, machine, choice));
  LMI_TRY(take_given(call, request, choice));
  for (int tier = 0; tier < LMI_TWO_TIERS; tier++) {
    choice->tiers[tier].name = choice->names[tier];
    choice->tiers[tier].capacity_bytes = 0; /* said apart */
    if (choice->tiers[tier].node < 0)
      choice->tiers[tier].node = tier;
  }
  return LAMINA_OK;
}

const char *lmi_tier_text(const lmi_tier_choice *choice, char *text, size_t size)
{
  const lamina_tier_model *tiers = choice->tiers;
  snprintf(text, size, "%s %.3g GB/s, %.3g ns; %s %.3g GB/s, %.3g ns (%s)", tiers[0].name, tiers[0].gb_per_s,
           tiers[0].latency_ns, tiers[1].name, tiers[1].gb_per_s, tiers[1].latency_ns, choice->origin);
  return text;
}
