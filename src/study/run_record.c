/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run as JSON, and run.json: the result with everything that is needed to repeat it. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <lamina/features.h>
#include <lamina/mpi.h>
#include <lamina/tiers.h>
#include <lamina/version.h>

#include "io/safe_file.h"
#include "simulation.h"

/* null for what is not finite: never a made-up number. */
static json_t *number(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *references_json(const lamina_run_result *result)
{
  json_t *list = json_array();
  for (size_t i = 0; i < result->reference_count; i++) {
    const lamina_run_reference *r = &result->references[i];
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:b}", "name", r->name, "max_error", number(r->max_error),
                                          "gate", number(r->gate), "passed", (int)r->passed));
  }
  return list;
}

static json_t *mean_json(const lamina_run_mean *m)
{
  return json_pack("{s:o, s:o, s:o, s:o}", "mean", number(m->mean), "error", number(m->error), "low", number(m->low),
                   "high", number(m->high));
}

static json_t *forces_json(const lamina_run_result *result)
{
  json_t *list = json_array();
  for (size_t i = 0; i < result->force_count; i++) {
    const lamina_run_force *f = &result->forces[i];
    json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:f, s:I, s:o, s:o, s:o, s:o}", "body", f->body, "area_m2",
                                          f->area, "speed_m_per_s", f->speed, "length_m", f->length, "samples",
                                          (json_int_t)f->samples, "drag_coefficient", mean_json(&f->drag),
                                          "lift_coefficient", mean_json(&f->lift), "strouhal", number(f->strouhal),
                                          "strouhal_error", number(f->strouhal_error)));
  }
  return list;
}

static json_t *files_json(const lamina_run_result *result)
{
  json_t *list = json_array();
  for (size_t i = 0; i < result->file_count; i++)
    json_array_append_new(list, json_string(result->files[i]));
  return list;
}

static json_t *result_json(const lmi_simulation *sim)
{
  const lamina_run_result *r = sim->result;
  const bool has_ceiling = r->ceiling_mlups > 0;
  json_t *object = json_pack(
    "{s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:b, s:b, s:o, s:o, s:s, s:o}", "cells",
    (json_int_t)r->cells, "steps", (json_int_t)(r->last_step - r->first_step), "last_step", (json_int_t)r->last_step,
    "seconds", r->seconds, "flow_time_s", number(r->flow_time), "mlups",
    r->seconds > 0 ? number(r->mlups) : json_null(), "gb_per_s", r->seconds > 0 ? number(r->gb_per_s) : json_null(),
    "ceiling_mlups", has_ceiling ? number(r->ceiling_mlups) : json_null(), "share",
    has_ceiling ? number(r->share) : json_null(), "ceiling_reason",
    has_ceiling ? json_null() : json_string(sim->ceiling_reason), "mass_drift", number(r->mass_drift), "max_speed",
    number(r->max_speed), "peak_bytes", (json_int_t)r->peak_bytes, "steady", (int)r->is_steady, "interrupted",
    (int)r->was_interrupted, "references", references_json(r), "forces", forces_json(r), "folder", sim->options->folder,
    "files", files_json(r));
  return object;
}

static json_t *units_json(const lamina_units *u)
{
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "cell_size_m", u->cell_size,
                   "time_step_s", u->time_step, "velocity_unit_m_per_s", u->velocity_unit, "density_kg_per_m3",
                   u->density, "reference_length_m", u->reference_length, "reference_speed_m_per_s", u->reference_speed,
                   "viscosity_m2_per_s", u->viscosity, "reynolds", u->reynolds, "lattice_speed", u->lattice_speed,
                   "lattice_viscosity", u->lattice_viscosity, "tau", u->tau, "mach", u->mach, "cell_reynolds",
                   u->cell_reynolds);
}

static json_t *settings_json(const lmi_simulation *sim)
{
  const lamina_solver_options *o = &sim->flow->solver;
  return json_pack("{s:[I,I,I], s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:i, s:i, s:i, s:s}", "cells",
                   (json_int_t)o->cells.x, (json_int_t)o->cells.y, (json_int_t)o->cells.z, "lattice",
                   lamina_lattice_name(o->lattice), "collision", lamina_collision_name(o->collision), "precision",
                   lamina_precision_name(o->precision), "layout", lamina_layout_name(o->layout), "streaming",
                   lamina_streaming_name(o->streaming), "omega", o->omega, "magic", o->magic, "smagorinsky",
                   o->smagorinsky, "ranks", lamina_rank_count(sim->ctx), "partitions",
                   o->partitions > 0 ? o->partitions : 1, "threads", lamina_context_thread_count(sim->ctx), "backend",
                   lamina_backend_name(o->backend));
}

/* Host and processor; what cannot be found out is null. */
static json_t *machine_json(const lamina_machine *machine)
{
  struct utsname name;
  const bool has_name = uname(&name) == 0;
  json_t *object =
    json_pack("{s:o, s:o, s:o}", "host", has_name ? json_string(name.nodename) : json_null(), "system",
              has_name ? json_sprintf("%s %s %s", name.sysname, name.release, name.machine) : json_null(), "processor",
              json_null());
  if (machine == NULL)
    return object;
  if (machine->processor[0] != '\0')
    json_object_set_new(object, "processor", json_string(machine->processor));
  json_object_set_new(object, "processors_allowed", json_integer(machine->processors_allowed));
  json_object_set_new(object, "memory_bytes", json_integer((json_int_t)machine->total_bytes));
  return object;
}

static json_t *record_json(const lmi_simulation *sim, const lamina_machine *machine, json_t *result)
{
  char now[32] = "";
  const time_t seconds = time(NULL);
  struct tm utc;
  if (gmtime_r(&seconds, &utc) != NULL)
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
  const lamina_case *flow = sim->flow;
  json_t *file = json_pack("{s:s, s:s, s:s, s:s, s:s}", "path", flow->path, "text", flow->text, "overrides",
                           flow->overrides, "text_hash", flow->text_hash, "physics", flow->physics);
  return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:O}", "program", "lamina", "version",
                   lamina_version(), "commit", lamina_build_commit(), "compiler", lamina_build_compiler(), "machine",
                   machine_json(machine), "ended_utc", now, "case", file, "settings", settings_json(sim), "units",
                   units_json(&flow->units), "result", result);
}

/* The text of an object; released with free(). NULL: jansson ran out of memory. */
static char *dump(const json_t *object, size_t flags)
{
  return object != NULL ? json_dumps(object, flags | JSON_REAL_PRECISION(15)) : NULL;
}

/* The machine as far as it can be looked at; *machine is NULL where it cannot. */
static lamina_status inspect(lamina_context *ctx, lamina_machine **machine)
{
  const lamina_status status = lamina_machine_inspect(ctx, NULL, machine);
  if (status != LAMINA_ERROR_FILE)
    return status;
  lamina_error_clear(ctx);
  return LAMINA_OK;
}

static lamina_status write_record(lmi_simulation *sim, const lamina_machine *machine, const char *path)
{
  json_t *result = result_json(sim);
  json_t *object = result != NULL ? record_json(sim, machine, result) : NULL;
  char *line = dump(result, JSON_INDENT(2));
  char *record = dump(object, JSON_INDENT(2));
  lamina_status status = LAMINA_OK;
  if (line == NULL || record == NULL)
    status = lmi_fail(sim->ctx, LAMINA_ERROR_MEMORY, "out of memory for run.json");
  else
    status = lmi_string_copy(sim->ctx, line, &sim->result->json);
  if (status == LAMINA_OK && lmi_simulation_writes(sim))
    status = lmi_safe_file_put(sim->ctx, path, record, strlen(record));
  free(line);
  free(record);
  json_decref(object);
  json_decref(result);
  return status;
}

lamina_status lmi_run_record_write(lmi_simulation *sim)
{
  char path[4096];
  lamina_machine *machine = NULL;
  LMI_TRY(lmi_simulation_add_file(sim, "run.json"));
  LMI_TRY(lmi_simulation_path(sim, "run.json", path, sizeof path));
  LMI_TRY(inspect(sim->ctx, &machine));
  const lamina_status status = write_record(sim, machine, path);
  lamina_machine_destroy(sim->ctx, machine);
  return status;
}
