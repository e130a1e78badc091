/* SPDX-License-Identifier: Apache-2.0 */
/* lamina report: shows what record wrote. */
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "lamina/memory_report.h"

struct report_values {
  bool json;
  const char *html, *machine;
};

static const struct report_values defaults = {0};

static const lmi_option options[] = {
  LMI_OPTION_TEXT(struct report_values, html, "html", "FILE", "write one HTML page with plots instead of text"),
  LMI_OPTION_TEXT(struct report_values, machine, "machine", "FILE",
                  "machine file with roofs and tiers (default: machine.json if it is here)"),
  LMI_OPTION_FLAG(struct report_values, json, "json", "print one JSON object"),
  {0}};

static const char *const examples[] = {"lamina report lamina-profile",
                                       "phases, objects, scaling curve as text",
                                       "lamina report --html report.html lamina-profile",
                                       "one page with plots",
                                       "lamina report small medium large",
                                       "scaling curves of three inputs, and how far they are apart",
                                       NULL};

static lamina_status report_run(lmi_call *call)
{
  const struct report_values *values = call->values;
  const char *machine = values->machine;
  LMI_TRY(lmi_call_open(call, 1));
  if (machine == NULL && access("machine.json", R_OK) == 0)
    machine = "machine.json";
  lamina_memory_report *report = NULL;
  lamina_status status = lamina_memory_report_create(call->ctx, (const char *const *)call->arguments,
                                                     call->argument_count, machine, &report);
  LMI_TRY(lmi_input_status(status));
  if (values->html != NULL)
    LMI_TRY_GOTO(status, lamina_memory_report_save_html(call->ctx, report, values->html), cleanup);
  if (values->html != NULL)
    fprintf(stderr, "lamina: wrote %s (its data and scripts: %s.plots)\n", values->html, values->html);
  if (values->json || values->html == NULL)
    status =
      lamina_memory_report_print(call->ctx, report, values->json ? LAMINA_REPORT_JSON : LAMINA_REPORT_TEXT, stdout);
cleanup:
  lamina_memory_report_destroy(call->ctx, report);
  return status;
}

const lmi_command lmi_command_report = {
  .name = "report",
  .summary = "shows a profile: phases, tiers, objects, scaling curve, footprint",
  .group = LMI_GROUP_MEASURE,
  .arguments = "DIR...",
  .least = 1,
  .most = 64,
  .options = options,
  LMI_VALUES(defaults),
  .description = "Several profiles are shown beside each other, with the distance between their curves.\n"
                 "What a source does not measure is shown as n/a, null in JSON; the remarks say why.",
  .examples = examples,
  .run = report_run,
};
