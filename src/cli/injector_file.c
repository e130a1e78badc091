/* SPDX-License-Identifier: Apache-2.0 */
#include "injector_file.h"

#include <errno.h>
#include <string.h>

#include "lamina/record.h"
#include "lamina/tiers.h"
#include "machine_table.h"

lamina_status lmi_injector_calibrate(lmi_call *call, const lmi_injector_file *file,
                                     lamina_injector_calibration **calibration)
{
  lamina_calibrate_options sweep = lamina_calibrate_options_default();
  sweep.most_threads = file->threads;
  sweep.array_bytes = file->array_bytes;
  sweep.placement = file->placement;
  sweep.progress = lmi_machine_progress;
  const lamina_status status = lamina_inject_calibrate(call->ctx, &sweep, calibration);
  lmi_machine_progress_end();
  LMI_TRY(status);
  LMI_TRY(lamina_injector_calibration_save(call->ctx, *calibration, file->path));
  fprintf(stderr, "lamina: wrote %s\n", file->path);
  return LAMINA_OK;
}

lamina_status lmi_injector_load_or_calibrate(lmi_call *call, const lmi_injector_file *file,
                                             lamina_injector_calibration **calibration)
{
  FILE *opened = fopen(file->path, "r");
  if (opened == NULL && errno == ENOENT) {
    fprintf(stderr, "lamina: there is no %s yet; calibrating\n", file->path);
    return lmi_injector_calibrate(call, file, calibration);
  }
  if (opened != NULL)
    fclose(opened);
  LMI_TRY(lamina_injector_calibration_load(call->ctx, file->path, calibration));
  lamina_machine *machine = NULL;
  LMI_TRY(lamina_machine_inspect(call->ctx, NULL, &machine));
  if (strcmp(machine->host, (*calibration)->host) != 0 || strcmp(machine->processor, (*calibration)->processor) != 0)
    fprintf(stderr, "lamina: %s is of another machine (%s, %s); calibrate again with `lamina inject --calibrate`\n",
            file->path, (*calibration)->host, (*calibration)->processor);
  lamina_machine_destroy(call->ctx, machine);
  return LAMINA_OK;
}

lamina_status lmi_injector_require_program(lmi_call *call)
{
  char path[4096];
  if (lamina_find_program(call->program[0], path, sizeof path))
    return LAMINA_OK;
  call->exit_code = 127;
  return lmi_fail(call->ctx, LAMINA_ERROR_SYSTEM, "%s: there is no such program", call->program[0]);
}

lamina_status lmi_injector_show_levels(lmi_call *call, const lamina_injector_calibration *calibration,
                                       const char *workers, json_t **rows)
{
  if (rows != NULL)
    *rows = json_array();
  else
    printf("level  %s  flops an element    GB/s\n", workers);
  lamina_status status = LAMINA_OK;
  for (int loi = 10; loi <= 100; loi += 10) {
    lamina_injector_setting setting;
    LMI_TRY_GOTO(status, lamina_inject_choose(call->ctx, calibration, loi, 0, &setting), cleanup);
    const double traffic = 0.01 * loi * calibration->peak_gb_per_s;
    if (rows == NULL)
      printf("%5d  %*d  %16.1f  %6.1f\n", loi, (int)strlen(workers), setting.threads, setting.flops_per_element,
             traffic);
    else
      json_array_append_new(*rows, json_pack("{s:i, s:i, s:f, s:f}", "loi", loi, workers, setting.threads,
                                             "flops_per_element", setting.flops_per_element, "gb_per_s", traffic));
  }
cleanup:
  if (status != LAMINA_OK && rows != NULL) {
    json_decref(*rows);
    *rows = NULL;
  }
  return status;
}
