/* SPDX-License-Identifier: Apache-2.0 */
/* lamina bench halo: what halos cost in each lattice and layout, against the paper's model (arXiv 2503.07898, equation
 * 1 and Figure 5). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include <lamina/bench.h>
#include <lamina/host.h>
#include <lamina/mpi.h>
#include <lamina/version.h>

struct bench_halo_values {
  bool json, pair;
  int64_t threads, partitions, repetitions;
  double seconds;
  int lattice, precision, layout, streaming, backend;
  lmi_word_list cells;
};

static const struct bench_halo_values defaults = {.repetitions = 5, .seconds = 0.1};

/* Position 0 of a choice is "not given"; the rest are the names of the public list, in its order. */
#define NAME_ROW(enumerator, value, name, text) name,
static const char *const lattices[] = {"default", LAMINA_LATTICE_LIST(NAME_ROW) NULL};
static const char *const precisions[] = {"default", LAMINA_PRECISION_LIST(NAME_ROW) NULL};
static const char *const layouts[] = {"default", LAMINA_LAYOUT_LIST(NAME_ROW) NULL};
static const char *const streamings[] = {"default", LAMINA_STREAMING_LIST(NAME_ROW) NULL};
static const char *const backends[] = {"default", LAMINA_BACKEND_LIST(NAME_ROW) NULL};
#undef NAME_ROW

static const lmi_option options[] = {
  LMI_OPTION_LIST(struct bench_halo_values, cells, "cells", "N",
                  "cells along each axis; may be given several times (default: 32, 64, 128)"),
  LMI_OPTION_CHOICE(struct bench_halo_values, lattice, "lattice", lattices, "velocity set (default: all)"),
  LMI_OPTION_CHOICE(struct bench_halo_values, layout, "layout", layouts, "memory layout (default: all)"),
  LMI_OPTION_CHOICE(struct bench_halo_values, precision, "precision", precisions, "of populations (default: f32)"),
  LMI_OPTION_CHOICE(struct bench_halo_values, streaming, "streaming", streamings,
                    "pattern (default: two_grid, as in the paper)"),
  LMI_OPTION_CHOICE(struct bench_halo_values, backend, "backend", backends,
                    "where it runs (default: cpu); cuda: slabs of the first device, as messages"),
  LMI_OPTION_INTEGER(struct bench_halo_values, partitions, "partitions", "N", 1, 4096,
                     "slabs (default: one a thread, at least 2; under mpirun one a rank)"),
  LMI_OPTION_INTEGER(struct bench_halo_values, threads, "threads", "N", 1, 4096, "threads (default: all usable)"),
  LMI_OPTION_INTEGER(struct bench_halo_values, repetitions, "repetitions", "N", 1, 1000,
                     "measurements a row (default: 5)"),
  LMI_OPTION_NUMBER(struct bench_halo_values, seconds, "seconds", "S", 0.001, 3600.0,
                    "length of one measurement (default: 0.1)"),
  LMI_OPTION_FLAG(struct bench_halo_values, pair, "pair",
                  "compare disaggregated and plane with soa on one slab instead, where nothing is sent"),
  LMI_OPTION_FLAG(struct bench_halo_values, json, "json", "print one JSON object"),
  {0}};

enum { LAYOUTS = LAMINA_LAYOUT_AOS + 1, LATTICES = LAMINA_D3Q27 + 1 };

/* What a run of the command prints or collects. */
typedef struct halo_report {
  lmi_call *call;
  lamina_transport transport;
  lamina_index cells[LMI_MAX_WORDS];
  size_t size_count;
  json_t *rows, *ratios, *crossovers; /* NULL: text */
} halo_report;

/* What the sizes of one lattice gave without overlap: disaggregated (0) and SoA (1). */
typedef struct size_course {
  size_t count;
  double cells[LMI_MAX_WORDS], mlups[2][LMI_MAX_WORDS], bytes[2][LMI_MAX_WORDS];
  int alpha[2], dimension;
  double share; /* of the messages of a slab that are sent one after the other, as in the model */
} size_course;

static lamina_status read_cells(lmi_call *call, const lmi_word_list *list, lamina_index *cells, size_t *count)
{
  static const lamina_index standard[] = {32, 64, 128};
  *count = list->count > 0 ? list->count : LMI_COUNT(standard);
  for (size_t i = 0; i < *count; i++) {
    cells[i] = list->count > 0 ? 0 : standard[i];
    if (list->count > 0 && (!lmi_parse_int64(list->words[i], &cells[i]) || cells[i] < 2 || cells[i] > 16384))
      return lmi_usage_error(call, "--cells %s: a number from 2 to 16384 is needed", list->words[i]);
  }
  return LAMINA_OK;
}

static lamina_halo_bench make_bench(const struct bench_halo_values *values, int threads, int ranks)
{
  lamina_halo_bench bench = lamina_halo_bench_default();
  bench.repetitions = (int)values->repetitions;
  bench.seconds = values->seconds;
  bench.solver.partitions = values->partitions > 0 ? (int)values->partitions : threads > 1 ? threads : 2;
  if (values->pair || (ranks > 1 && values->partitions == 0))
    bench.solver.partitions = 1;
  if (values->precision > 0)
    bench.solver.precision = (lamina_precision)(values->precision - 1);
  if (values->streaming > 0)
    bench.solver.streaming = (lamina_streaming)(values->streaming - 1);
  if (values->backend > 0)
    bench.solver.backend = (lamina_backend)(values->backend - 1);
  return bench;
}

static json_int_t cell_count(const lamina_solver_options *solver)
{
  const lamina_int3 n = solver->cells;
  return n.x * n.y * n.z;
}

static void set_with_reason(json_t *object, const char *name, double value, const char *reason_name, const char *reason)
{
  json_object_set_new(object, name, lmi_json_number(value));
  if (isnan(value))
    json_object_set_new(object, reason_name, json_string(reason));
}

static void add_row(const halo_report *report, const lamina_solver_options *solver, const lamina_halo_row *row)
{
  json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:i, s:I}", "lattice",
                             lamina_lattice_name(solver->lattice), "layout", lamina_layout_name(solver->layout),
                             "streaming", lamina_streaming_name(solver->streaming), "precision",
                             lamina_precision_name(solver->precision), "transport", report->transport.name, "ranks",
                             row->ranks, "partitions", row->partitions, "threads", row->threads, "cells",
                             cell_count(solver), "alpha", row->alpha, "beta_values", (json_int_t)row->beta_values);
  json_object_set_new(object, "bytes", lmi_json_number(row->bytes));
  set_with_reason(object, "model_us", row->model_us, "reason", "the fit of the transport gave no positive number");
  json_object_set_new(object, "measured_us", lmi_json_number(row->measured_us));
  json_object_set_new(object, "model_over_measured", lmi_json_number(row->model_over_measured.median));
  json_object_set_new(object, "model_over_measured_min", lmi_json_number(row->model_over_measured.low));
  json_object_set_new(object, "model_over_measured_max", lmi_json_number(row->model_over_measured.high));
  json_object_set_new(object, "mlups", lmi_json_number(row->mlups.median));
  json_object_set_new(object, "mlups_min", lmi_json_number(row->mlups.low));
  json_object_set_new(object, "mlups_max", lmi_json_number(row->mlups.high));
  json_object_set_new(object, "mlups_no_overlap", lmi_json_number(row->mlups_no_overlap.median));
  json_array_append_new(report->rows, object);
}

static void print_number(double value, int width, int digits)
{
  if (isnan(value))
    printf(" %*s", width, "-");
  else
    printf(" %*.*f", width, digits, value);
}

static void print_row(const lamina_solver_options *solver, const lamina_halo_row *row)
{
  const bool flat = lamina_lattice_dimension(solver->lattice) == 2;
  printf("%-6s %-13s %5lld^%d %6d %10lld", lamina_lattice_name(solver->lattice), lamina_layout_name(solver->layout),
         (long long)solver->cells.x, flat ? 2 : 3, row->alpha, (long long)row->beta_values);
  print_number(row->bytes / 1024.0, 9, 1);
  print_number(row->model_us, 9, 2);
  print_number(row->measured_us, 9, 2);
  print_number(row->model_over_measured.median, 6, 2);
  print_number(row->mlups.median, 9, 1);
  print_number(row->mlups_no_overlap.median, 9, 1);
  printf("\n");
  fflush(stdout);
}

/* Speed of the other layouts over that of SoA, the paper's Figure 5(a). */
static void report_ratio(const halo_report *report, const lamina_solver_options *solver, const double *mlups)
{
  const double soa = mlups[LAMINA_LAYOUT_SOA];
  const double disaggregated = mlups[LAMINA_LAYOUT_DISAGGREGATED] / soa, plane = mlups[LAMINA_LAYOUT_PLANE] / soa;
  if (report->rows == NULL) {
    printf("       over soa:     disaggregated %.2f, plane %.2f\n", disaggregated, plane);
    return;
  }
  json_t *object =
    json_pack("{s:s, s:I}", "lattice", lamina_lattice_name(solver->lattice), "cells", cell_count(solver));
  json_object_set_new(object, "disaggregated_over_soa", lmi_json_number(disaggregated));
  json_object_set_new(object, "plane_over_soa", lmi_json_number(plane));
  json_array_append_new(report->ratios, object);
}

/* ---- where disaggregation stops to matter: it gains less than this share of a step ---- */

static const double GAIN = 0.05;

static void add_to_course(size_course *course, const lamina_solver_options *solver, const lamina_halo_row *row)
{
  const bool is_soa = solver->layout == LAMINA_LAYOUT_SOA;
  if (!is_soa && solver->layout != LAMINA_LAYOUT_DISAGGREGATED)
    return;
  const double cells = (double)solver->cells.x;
  if (course->count == 0 || course->cells[course->count - 1] != cells)
    course->count++;
  const size_t place = course->count - 1;
  course->dimension = lamina_lattice_dimension(solver->lattice);
  course->cells[place] = cells;
  course->mlups[is_soa][place] = row->mlups_no_overlap.median;
  course->bytes[is_soa][place] = row->bytes;
  course->alpha[is_soa] = row->alpha;
  const bool side_by_side = row->ranks > 1 || solver->backend == LAMINA_BACKEND_CUDA;
  course->share = side_by_side ? 1.0 : (double)row->partitions / row->threads;
}

/* An exchange of a layout at `cells` cells along an axis, as the model has it. */
static double predicted_exchange(const size_course *course, const lamina_transport *transport, int layout, double cells)
{
  const size_t last = course->count - 1;
  const double face = pow(cells / course->cells[last], course->dimension - 1);
  return lamina_transport_time(transport, course->share * course->alpha[layout],
                               course->share * course->bytes[layout][last] * face);
}

/* The gain at `cells` cells along an axis as the model has it: what the larger number of messages costs, over the time
 * of a step. The speed of computing is that of the largest box without its exchange. */
static double predicted_gain(const size_course *course, const lamina_transport *transport, double cells)
{
  const size_t last = course->count - 1;
  const double largest = course->cells[last], step = pow(largest, course->dimension) / course->mlups[0][last];
  const double compute =
    (step - predicted_exchange(course, transport, 0, largest)) * pow(cells / largest, course->dimension);
  const double exchange = predicted_exchange(course, transport, 0, cells);
  return (predicted_exchange(course, transport, 1, cells) - exchange) / (exchange + compute);
}

/* The largest box that gains enough, looked for from above: below it, messages that fit an eager protocol may gain
 * nothing again. NAN where none does. */
static double predicted_crossover(const size_course *course, const lamina_transport *transport)
{
  for (double cells = 65536.0; cells > 1.0; cells *= 0.99)
    if (predicted_gain(course, transport, cells) > GAIN)
      return cells;
  return (double)NAN;
}

/* Between the last size that gained enough and the next one, on a logarithmic axis; NAN outside the sizes measured. */
static double measured_crossover(const size_course *course)
{
  for (size_t i = course->count - 1; i-- > 0;) {
    const double above = course->mlups[0][i] / course->mlups[1][i] - 1.0;
    const double below = course->mlups[0][i + 1] / course->mlups[1][i + 1] - 1.0;
    if (above > GAIN && below <= GAIN)
      return course->cells[i] * pow(course->cells[i + 1] / course->cells[i], (above - GAIN) / (above - below));
  }
  return (double)NAN;
}

static void report_crossover(const halo_report *report, lamina_lattice lattice, const size_course *course)
{
  if (course->count < 2)
    return;
  const double predicted = predicted_crossover(course, &report->transport), measured = measured_crossover(course);
  if (report->rows == NULL) {
    printf("       without overlap disaggregated gains less than %.0f %% over soa from", 100.0 * GAIN);
    print_number(predicted, 0, 0);
    printf(" cells along an axis (model),");
    print_number(measured, 0, 0);
    printf(" (measured)\n");
    return;
  }
  json_t *object = json_pack("{s:s, s:f}", "lattice", lamina_lattice_name(lattice), "gain", GAIN);
  set_with_reason(object, "predicted_cells_along_axis", predicted, "predicted_reason",
                  "the model gains less at any size");
  set_with_reason(object, "measured_cells_along_axis", measured, "measured_reason",
                  "the gain does not pass this share between two of the sizes measured");
  json_array_append_new(report->crossovers, object);
}

/* One lattice and size in all layouts asked for. */
static lamina_status run_layouts(const halo_report *report, lamina_halo_bench *bench, int wanted_layout,
                                 size_course *course)
{
  double mlups[LAYOUTS];
  for (int layout = LAYOUTS - 1; layout >= 0; layout--) {
    if (wanted_layout > 0 && layout != wanted_layout - 1)
      continue;
    lamina_halo_row row;
    bench->solver.layout = (lamina_layout)layout;
    LMI_TRY(lamina_halo_bench_run(report->call->ctx, bench, &report->transport, &row));
    mlups[layout] = row.mlups.median;
    add_to_course(course, &bench->solver, &row);
    if (report->rows != NULL)
      add_row(report, &bench->solver, &row);
    else
      print_row(&bench->solver, &row);
  }
  if (wanted_layout == 0)
    report_ratio(report, &bench->solver, mlups);
  return LAMINA_OK;
}

/* What a layout costs or brings by itself, in pairs of runs. */
static lamina_status run_pairs(const halo_report *report, const lamina_halo_bench *bench)
{
  static const lamina_layout compared[] = {LAMINA_LAYOUT_DISAGGREGATED, LAMINA_LAYOUT_PLANE};
  for (size_t i = 0; i < LMI_COUNT(compared); i++) {
    lamina_layout_pair pair;
    LMI_TRY(lamina_layout_pair_run(report->call->ctx, bench, compared[i], LAMINA_LAYOUT_SOA, &pair));
    if (report->rows == NULL) {
      printf("%-6s %lld cells: %s %.1f MLUPS, soa %.1f, ratio %.3f (%.3f to %.3f)\n",
             lamina_lattice_name(bench->solver.lattice), (long long)cell_count(&bench->solver),
             lamina_layout_name(compared[i]), pair.mlups_first.median, pair.mlups_second.median, pair.ratio.median,
             pair.ratio.low, pair.ratio.high);
      continue;
    }
    json_array_append_new(
      report->ratios,
      json_pack("{s:s, s:I, s:i, s:s, s:f, s:f, s:f, s:f, s:f}", "lattice", lamina_lattice_name(bench->solver.lattice),
                "cells", cell_count(&bench->solver), "partitions", 1, "layout", lamina_layout_name(compared[i]),
                "mlups", pair.mlups_first.median, "mlups_soa", pair.mlups_second.median, "over_soa", pair.ratio.median,
                "over_soa_min", pair.ratio.low, "over_soa_max", pair.ratio.high));
  }
  return LAMINA_OK;
}

static lamina_status run_rows(const halo_report *report)
{
  const struct bench_halo_values *values = report->call->values;
  lamina_halo_bench bench =
    make_bench(values, lamina_context_thread_count(report->call->ctx), lamina_rank_count(report->call->ctx));
  for (int lattice = 0; lattice < LATTICES; lattice++) {
    size_course course = {.count = 0};
    if (values->lattice > 0 && lattice != values->lattice - 1)
      continue;
    for (size_t i = 0; i < report->size_count; i++) {
      bench.solver.lattice = (lamina_lattice)lattice;
      const bool flat = lamina_lattice_dimension(bench.solver.lattice) == 2;
      bench.solver.cells = (lamina_int3){report->cells[i], report->cells[i], flat ? 1 : report->cells[i]};
      LMI_TRY(values->pair ? run_pairs(report, &bench) : run_layouts(report, &bench, values->layout, &course));
    }
    if (!values->pair && values->layout == 0)
      report_crossover(report, (lamina_lattice)lattice, &course);
  }
  return LAMINA_OK;
}

static void print_transport(const lamina_transport *transport, int threads, int ranks, bool on_device)
{
  if (on_device)
    printf("periodic box, slabs of one device. Transport %s, copies inside the device:", transport->name);
  else
    printf("periodic box, %d ranks of %d threads. Transport %s, fitted by ping-pong:", ranks, threads, transport->name);
  print_number(transport->setup_us, 0, 3);
  printf(" us a message,");
  print_number(transport->sync_us, 0, 3);
  printf(" us an exchange,");
  print_number(transport->gb_per_s, 0, 2);
  printf(" GB/s%s\n%-6s %-13s %7s %6s %10s %9s %9s %9s %6s %9s %9s\n",
         on_device   ? ""
         : ranks > 1 ? " a rank"
                     : " a thread",
         "set", "layout", "cells", "alpha", "beta", "KiB", "model us", "alone us", "ratio", "MLUPS", "no overl.");
}

static json_t *transport_json(const lamina_transport *transport)
{
  static const char reason[] = "the fit gave no positive number";
  json_t *object = json_pack("{s:s}", "name", transport->name);
  set_with_reason(object, "setup_us", transport->setup_us, "setup_us_reason", reason);
  set_with_reason(object, "sync_us", transport->sync_us, "sync_us_reason", reason);
  set_with_reason(object, "gb_per_s", transport->gb_per_s, "gb_per_s_reason", reason);
  return object;
}

static lamina_status bench_halo_run(lmi_call *call)
{
  const struct bench_halo_values *values = call->values;
  LMI_TRY(lmi_call_open(call, (int)values->threads));
  halo_report report = {.call = call};
  LMI_TRY(read_cells(call, &values->cells, report.cells, &report.size_count));
  const bool on_device = values->backend == LAMINA_BACKEND_CUDA + 1;
  LMI_TRY(on_device ? lamina_transport_measure_device(call->ctx, 0, &report.transport)
                    : lamina_transport_measure(call->ctx, &report.transport));
  if (!values->json) {
    print_transport(&report.transport, lamina_context_thread_count(call->ctx), lamina_rank_count(call->ctx), on_device);
    return run_rows(&report);
  }
  char machine[96];
  lmi_name_processor(call, machine, sizeof machine);
  report.rows = json_array();
  report.ratios = json_array();
  report.crossovers = json_array();
  const lamina_status status = run_rows(&report);
  if (status != LAMINA_OK) {
    json_decref(report.rows);
    json_decref(report.ratios);
    json_decref(report.crossovers);
    return status;
  }
  return lmi_print_json(call, json_pack("{s:s, s:s, s:s, s:[o], s:o, s:o, s:o}", "version", lamina_version(), "machine",
                                        machine, "mpi", lamina_ranks_library(), "transports",
                                        transport_json(&report.transport), "rows", report.rows, "ratios", report.ratios,
                                        "crossovers", report.crossovers));
}

const lmi_command lmi_bench_halo = {
  .name = "halo",
  .flags = LMI_TAKES_RANKS,
  .summary = "messages of each layout against the model of the paper, with and without overlap",
  .group = LMI_GROUP_SIMULATE,
  .options = options,
  LMI_VALUES(defaults),
  .run = bench_halo_run,
};
