/* SPDX-License-Identifier: Apache-2.0 */
/* The plots of a report: each writes NAME.dat and NAME.gp into the folder of plots; the script draws NAME.svg. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memory_report_internal.h"

enum { CURVE_POINTS = 400, MOST_BARS = 12, ROOF_POINTS = 60 };

/* Colours that stay apart for the colour-blind (Okabe and Ito 2008). */
static const char STYLE[] = "set encoding utf8\n"
                            "set linetype 1 lc rgb '#0072b2' lw 2\nset linetype 2 lc rgb '#d55e00' lw 2\n"
                            "set linetype 3 lc rgb '#009e73' lw 2\nset linetype 4 lc rgb '#cc79a7' lw 2\n"
                            "set linetype 5 lc rgb '#e69f00' lw 2\nset linetype 6 lc rgb '#56b4e9' lw 2\n"
                            "set linetype cycle 6\nset grid lc rgb '#dddddd' lw 1\nset border lc rgb '#666666'\n"
                            "set key outside top left horizontal reverse Left\n";

static lamina_status open_in(lamina_context *ctx, const char *folder, const char *name, const char *suffix, FILE **file)
{
  lmi_text path = {0};
  LMI_TRY(lmi_text_append(ctx, &path, "%s/%s.%s", folder, name, suffix));
  *file = fopen(path.data, "w");
  const lamina_status status =
    *file != NULL ? LAMINA_OK : lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path.data);
  lmi_text_free(ctx, &path);
  return status;
}

static lamina_status close_file(lamina_context *ctx, FILE *file, const char *name)
{
  const bool failed = ferror(file) != 0;
  LMI_REQUIRE(ctx, fclose(file) == 0 && !failed, LAMINA_ERROR_FILE, "the data of the plot %s could not be written",
              name);
  return LAMINA_OK;
}

static void begin_script(FILE *script, const char *name, int height)
{
  fprintf(script, "set terminal svg size 760,%d dynamic name '%s' font 'sans-serif,13'\nset output '%s.svg'\n%s",
          height, name, name, STYLE);
}

/* Text inside single quotes of gnuplot: a quote is doubled; anything odd becomes a blank. */
static void quote(FILE *script, const char *text, size_t most)
{
  fputc('\'', script);
  for (size_t i = 0; i < most && text[i] != '\0'; i++) {
    if (text[i] == '\'')
      fputs("''", script);
    else
      fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], script);
  }
  fputc('\'', script);
}

/* ---- footprint over time ---- */

static bool has_footprint(const lamina_memory_report *report)
{
  return report->profiles[0].peak_sum > 0;
}

static lamina_status write_footprint(lamina_context *ctx, const lamina_memory_report *report, const char *folder)
{
  FILE *file = NULL;
  const lmi_report_profile *profile = &report->profiles[0];
  const lamina_footprint_point *points = profile->footprint;
  int tiers = lamina_profile_get_summary(profile->profile)->tier_count;
  tiers = tiers < 1 ? 1 : tiers;
  LMI_TRY(open_in(ctx, folder, "footprint", "dat", &file));
  for (size_t i = 0; i < profile->footprint_count; i++) {
    double sum = 0;
    fprintf(file, "%.6f", points[i].seconds);
    for (int t = 0; t < tiers; t++) {
      sum += points[i].tier_bytes[t] != LAMINA_UNCOUNTED ? (double)points[i].tier_bytes[t] / 1048576.0 : 0;
      fprintf(file, " %.3f", sum);
    }
    fprintf(file, "\n");
  }
  LMI_TRY(close_file(ctx, file, "footprint"));
  LMI_TRY(open_in(ctx, folder, "footprint", "gp", &file));
  begin_script(file, "footprint", 340);
  fprintf(file, "set xlabel 'seconds'\nset ylabel 'resident, MiB'\nset yrange [0:*]\nset style fill solid 0.6\nplot ");
  for (int t = tiers - 1; t >= 0; t--) {
    char name[LAMINA_TIER_NAME_BYTES];
    fprintf(file, "'footprint.dat' using 1:%d with filledcurves x1 lt %d title ", t + 2, t + 1);
    quote(file, lmi_report_tier_name(report, t, name, sizeof name), sizeof name);
    fprintf(file, "%s", t > 0 ? ", " : "\n");
  }
  return close_file(ctx, file, "footprint");
}

/* ---- scaling curve ---- */

static bool has_curve(const lamina_memory_report *report)
{
  for (size_t i = 0; i < report->profile_count; i++)
    if (report->profiles[i].curve != NULL && isfinite(lamina_curve_share(report->profiles[i].curve, 50)))
      return true;
  return false;
}

static lamina_status write_curve(lamina_context *ctx, const lamina_memory_report *report, const char *folder)
{
  FILE *file = NULL;
  LMI_TRY(open_in(ctx, folder, "curve", "dat", &file));
  for (int k = 0; k <= CURVE_POINTS; k++) {
    const double percent = 100.0 * (double)k / CURVE_POINTS;
    fprintf(file, "%.3f", percent);
    for (size_t i = 0; i < report->profile_count; i++)
      fprintf(file, " %.4f",
              report->profiles[i].curve != NULL ? lamina_curve_share(report->profiles[i].curve, percent) : 0);
    fprintf(file, "\n");
  }
  LMI_TRY(close_file(ctx, file, "curve"));
  LMI_TRY(open_in(ctx, folder, "curve", "gp", &file));
  begin_script(file, "curve", 420);
  fprintf(
    file,
    "set xlabel 'hottest pages, percent of the footprint'\nset ylabel 'accesses, percent'\n"
    "set xrange [0:100]\nset yrange [0:100]\nset key bottom right\nplot x with lines lt 0 title 'all pages alike'");
  for (size_t i = 0; i < report->profile_count; i++) {
    if (report->profiles[i].curve == NULL)
      continue;
    fprintf(file, ", 'curve.dat' using 1:%zu with lines lt %zu title ", i + 2, i + 1);
    quote(file, report->profiles[i].path, 60);
  }
  fprintf(file, "\n");
  return close_file(ctx, file, "curve");
}

/* ---- hottest objects ---- */

static bool has_objects(const lamina_memory_report *report)
{
  return report->profiles[0].object_total > 0;
}

static lamina_status write_objects(lamina_context *ctx, const lamina_memory_report *report, const char *folder)
{
  size_t count = 0, shown = 0;
  FILE *file = NULL;
  const lmi_report_profile *profile = &report->profiles[0];
  const lamina_profile_object *objects = lamina_profile_objects(profile->profile, &count);
  while (shown < count && shown < MOST_BARS && lmi_report_object_share(profile, &objects[shown]) > 0)
    shown++;
  LMI_TRY(open_in(ctx, folder, "objects", "dat", &file));
  for (size_t i = 0; i < shown; i++)
    fprintf(file, "%zu %.4f\n", shown - i, lmi_report_object_share(profile, &objects[i]));
  LMI_TRY(close_file(ctx, file, "objects"));
  LMI_TRY(open_in(ctx, folder, "objects", "gp", &file));
  begin_script(file, "objects", 90 + 30 * (int)shown);
  fprintf(file,
          "set xlabel 'percent of the accesses'\nset xrange [0:*]\nset yrange [0.4:%zu.6]\nset style fill solid 0.8\n"
          "unset key\nset ytics (",
          shown);
  for (size_t i = 0; i < shown; i++) {
    quote(file, objects[i].name, 44);
    fprintf(file, " %zu%s", shown - i, i + 1 < shown ? ", " : ")\n");
  }
  fprintf(file, "set boxwidth 0.7\nplot 'objects.dat' using ($2/2):1:($2/2):(0.35) with boxxyerrorbars lt 1\n");
  return close_file(ctx, file, "objects");
}

/* ---- roofline ---- */

static bool has_roofline(const lamina_memory_report *report)
{
  if (report->machine == NULL || !isfinite(report->gflop_per_s) || !isfinite(report->tier_gb_per_s[0]))
    return false;
  for (size_t i = 0; i < report->profile_count; i++)
    if (isfinite(report->profiles[i].total.intensity) && isfinite(report->profiles[i].total.gflop_per_s))
      return true;
  return false;
}

/* One roof a tier, and the roof of all tiers together. */
static void plot_roofs(const lamina_memory_report *report, FILE *script)
{
  const int tiers = (int)report->machine->tier_count;
  double sum = 0;
  for (int t = 0; t < tiers && t < LAMINA_TIERS_MAX; t++) {
    sum += report->tier_gb_per_s[t];
    fprintf(script, "%s(x*%.6g<%.6g?x*%.6g:%.6g) with lines lt %d title ", t > 0 ? ", " : "", report->tier_gb_per_s[t],
            report->gflop_per_s, report->tier_gb_per_s[t], report->gflop_per_s, t + 1);
    quote(script, report->machine->tiers[t].name, LAMINA_TIER_NAME_BYTES);
  }
  if (tiers > 1 && isfinite(sum))
    fprintf(script, ", (x*%.6g<%.6g?x*%.6g:%.6g) with lines lt 1 dt 2 title 'all tiers'", sum, report->gflop_per_s, sum,
            report->gflop_per_s);
}

static lamina_status write_roofline(lamina_context *ctx, const lamina_memory_report *report, const char *folder)
{
  FILE *file = NULL;
  LMI_TRY(open_in(ctx, folder, "roofline", "dat", &file));
  for (size_t i = 0; i < report->profile_count; i++)
    for (size_t k = 0; k < report->profiles[i].phase_count; k++) {
      const lmi_report_phase *phase = &report->profiles[i].phases[k];
      if (isfinite(phase->intensity) && isfinite(phase->gflop_per_s) && phase->gflop_per_s > 0)
        fprintf(file, "%.6g %.6g \"%.40s\"\n", phase->intensity, phase->gflop_per_s, phase->name);
    }
  LMI_TRY(close_file(ctx, file, "roofline"));
  LMI_TRY(open_in(ctx, folder, "roofline", "gp", &file));
  begin_script(file, "roofline", 420);
  fprintf(
    file,
    "set logscale xy\nset xlabel 'flops a byte'\nset ylabel 'GFLOP/s'\nset samples 500\nset xrange [0.01:100]\nplot ");
  plot_roofs(report, file);
  fprintf(
    file,
    ", 'roofline.dat' using 1:2 with points lt 6 pt 7 title 'phases', '' using 1:2:3 with labels offset 0,1 notitle\n");
  return close_file(ctx, file, "roofline");
}

const lmi_report_plot lmi_report_plots[] = {
  {"footprint", "Footprint over time", "Resident memory, one colour a tier, stacked.", has_footprint,
   "no footprint was recorded: the program ended before the first look", write_footprint},
  {"curve", "Bandwidth-capacity scaling curve",
   "How much of the traffic the hottest part of the footprint takes. A curve far above the diagonal means that a small "
   "fast tier "
   "catches most of it.",
   has_curve, "no accesses were recorded", write_curve},
  {"objects", "Hottest objects", "Share of the accesses that goes to each array or allocation site.", has_objects,
   "no accesses were recorded", write_objects},
  {"roofline", "Roofline", "Measured phases under the ceilings of this machine.", has_roofline,
   "a roofline needs flops, bytes and time, which this source does not all give, and a machine file (--machine)",
   write_roofline},
};
const size_t lmi_report_plot_count = LMI_COUNT(lmi_report_plots);
