/* SPDX-License-Identifier: Apache-2.0 */
/* One HTML file without anything outside of it: text, tables, and the plots as SVG. Readable at 320 pixels and on
 * paper. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/gnuplot.h"
#include "memory_report_internal.h"

static const char HEAD[] =
  "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Lamina memory "
  "report</title>\n<style>\n"
  ":root{color-scheme:light}\n"
  "body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;margin:0 auto;padding:1rem;max-width:60rem}\n"
  "h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #ccc}\n"
  "figure{margin:1rem 0}figure svg{width:100%;height:auto}figcaption{color:#555;font-size:.9rem}\n"
  ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}\n"
  "th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #e4e4e4;white-space:nowrap}\n"
  "th:first-child,td:first-child{text-align:left;white-space:normal;min-width:10rem}\n"
  "code{overflow-wrap:anywhere}.absent{color:#777;font-style:italic}\n"
  "@media print{body{max-width:none;font-size:11pt}.wide{overflow:visible}figure,table{break-inside:avoid}}\n"
  "</style></head><body>\n<h1>Lamina memory report</h1>\n";

static void escape(FILE *stream, const char *text)
{
  for (; *text != '\0'; text++) {
    switch (*text) {
    case '<': fputs("&lt;", stream); break;
    case '>': fputs("&gt;", stream); break;
    case '&': fputs("&amp;", stream); break;
    case '"': fputs("&quot;", stream); break;
    default: fputc((unsigned char)*text < ' ' ? ' ' : *text, stream);
    }
  }
}

static void number_cell(FILE *stream, double value, int digits, const char *unit)
{
  if (isfinite(value))
    fprintf(stream, "<td>%.*f%s</td>", digits, value, unit);
  else
    fputs("<td class=\"absent\">n/a</td>", stream);
}

static void count_cell(FILE *stream, uint64_t value, bool is_bytes)
{
  char text[32];
  if (value == LAMINA_UNCOUNTED)
    fputs("<td class=\"absent\">n/a</td>", stream);
  else if (is_bytes)
    fprintf(stream, "<td>%s</td>", lmi_format_bytes((double)value, text));
  else
    fprintf(stream, "<td>%.4g</td>", (double)value);
}

static void write_processes(const lmi_report_profile *profile, FILE *stream)
{
  size_t count = 0;
  const lamina_profile_process *processes = lamina_profile_processes(profile->profile, &count);
  fputs("<div class=\"wide\"><table><tr><th>program</th><th>process</th><th>end</th><th>footprint</th></tr>\n", stream);
  for (size_t place = 0; place < count && place < LMI_REPORT_MOST_OBJECTS; place++) {
    const lamina_profile_process *process = &processes[lmi_report_process_at(processes, count, place)];
    fputs("<tr><td><code>", stream);
    escape(stream, process->command);
    fprintf(stream, "</code></td><td>%d</td><td>", process->pid);
    escape(stream, process->ended);
    fputs("</td>", stream);
    count_cell(stream, process->footprint_bytes, true);
    fputs("</tr>\n", stream);
  }
  fputs("</table></div>\n", stream);
}

static void write_phase(const lmi_report_profile *profile, const lmi_report_phase *phase, FILE *stream)
{
  const double share =
    profile->total.samples > 0 ? 100.0 * (double)phase->samples / (double)profile->total.samples : (double)NAN;
  fputs("<tr><td>", stream);
  escape(stream, phase->name);
  fputs("</td>", stream);
  number_cell(stream, phase->seconds, 3, "");
  count_cell(stream, phase->flops, false);
  count_cell(stream, phase->bytes, true);
  number_cell(stream, phase->intensity, 2, "");
  number_cell(stream, phase->gflop_per_s, 2, "");
  number_cell(stream, phase->gb_per_s, 2, "");
  number_cell(stream, share, 1, " %");
  fputs("</tr>\n", stream);
}

static void write_phases(const lmi_report_profile *profile, FILE *stream)
{
  fputs("<div class=\"wide\"><table><tr><th>phase</th><th>seconds</th><th>flops</th><th>bytes</th><th>flop/byte</th>"
        "<th>GFLOP/s</th><th>GB/s</th><th>samples</th></tr>\n",
        stream);
  for (size_t i = 0; i < profile->phase_count; i++)
    write_phase(profile, &profile->phases[i], stream);
  write_phase(profile, &profile->total, stream);
  fputs("</table></div>\n", stream);
}

static void write_tiers(const lamina_memory_report *report, const lmi_report_profile *profile, FILE *stream)
{
  const int tiers = lamina_profile_get_summary(profile->profile)->tier_count;
  char name[LAMINA_TIER_NAME_BYTES], reading[256];
  if (tiers < 2)
    return;
  fputs("<div class=\"wide\"><table><tr><th>tier</th><th>resident</th><th>R<sub>cap</sub></th><th>R<sub>BW</sub></th>"
        "<th>R<sub>access</sub></th></tr>\n",
        stream);
  for (int t = 0; t < tiers && t < LAMINA_TIERS_MAX; t++) {
    fputs("<tr><td>", stream);
    escape(stream, lmi_report_tier_name(report, t, name, sizeof name));
    fputs("</td>", stream);
    count_cell(stream, profile->peak_sum > 0 ? profile->peak_bytes[t] : LAMINA_UNCOUNTED, true);
    number_cell(stream, 100 * profile->tier_capacity_share[t], 1, " %");
    number_cell(stream, 100 * report->tier_bandwidth_share[t], 1, " %");
    number_cell(stream, 100 * profile->total.tier_access[t], 1, " %");
    fputs("</tr>\n", stream);
  }
  fputs("</table></div>\n<p>", stream);
  escape(stream, lmi_report_reading(report, profile, &profile->total, reading, sizeof reading));
  fputs("</p>\n", stream);
}

static void write_objects(const lmi_report_profile *profile, FILE *stream)
{
  size_t count = 0;
  const lamina_profile_object *objects = lamina_profile_objects(profile->profile, &count);
  if (profile->object_total == 0)
    return;
  fputs("<h3>Objects</h3>\n<div "
        "class=\"wide\"><table><tr><th>object</th><th>kind</th><th>bytes</th><th>blocks</th><th>share</th></tr>\n",
        stream);
  for (size_t i = 0; i < count && i < LMI_REPORT_MOST_OBJECTS; i++) {
    if (lmi_report_object_share(profile, &objects[i]) <= 0)
      break;
    fputs("<tr><td>", stream);
    escape(stream, objects[i].name);
    fprintf(stream, "</td><td>%s</td>", lamina_object_kind_name(objects[i].kind));
    count_cell(stream, objects[i].bytes_total, true);
    count_cell(stream, objects[i].blocks, false);
    number_cell(stream, lmi_report_object_share(profile, &objects[i]), 1, " %");
    fputs("</tr>\n", stream);
  }
  fputs("</table></div>\n", stream);
}

static void write_remarks(const lmi_report_profile *profile, FILE *stream)
{
  size_t count = 0;
  const char *const *remarks = lamina_profile_remarks(profile->profile, &count);
  if (count == 0)
    return;
  fputs("<h3>What to know before believing this</h3><ul>\n", stream);
  for (size_t i = 0; i < count; i++) {
    fputs("<li>", stream);
    escape(stream, remarks[i]);
    fputs("</li>\n", stream);
  }
  fputs("</ul>\n", stream);
}

/* ---- plots ---- */

/* From "<svg" on: the prolog of the file has no place inside HTML. */
static void embed_svg(FILE *svg, FILE *stream)
{
  static const char mark[] = "<svg";
  size_t matched = 0;
  for (int next = fgetc(svg); next != EOF; next = fgetc(svg)) {
    if (matched == sizeof mark - 1) {
      fputc(next, stream);
      continue;
    }
    matched = next == mark[matched] ? matched + 1 : next == mark[0] ? 1 : 0;
    if (matched == sizeof mark - 1)
      fputs(mark, stream);
  }
}

/* Draws one plot; what goes wrong becomes the sentence in its place, for a report without pictures is still a report.
 */
static lamina_status draw(lamina_context *ctx, const lamina_memory_report *report, const lmi_report_plot *plot,
                          const char *folder, FILE *stream)
{
  lmi_text script = {0}, picture = {0};
  LMI_TRY(plot->write(ctx, report, folder));
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_text_append(ctx, &script, "%s/%s.gp", folder, plot->name), cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(ctx, &picture, "%s/%s.svg", folder, plot->name), cleanup);
  if (lmi_gnuplot_run(ctx, script.data) != LAMINA_OK) {
    fputs("<p class=\"absent\">No picture: ", stream);
    escape(stream, lamina_error_message(ctx));
    fputs("</p>\n", stream);
    lamina_error_clear(ctx);
    goto cleanup;
  }
  FILE *svg = fopen(picture.data, "r");
  if (svg != NULL) {
    fputs("<figure>", stream);
    embed_svg(svg, stream);
    fprintf(stream, "<figcaption>%s</figcaption></figure>\n", plot->caption);
    fclose(svg);
  }
cleanup:
  lmi_text_free(ctx, &script);
  lmi_text_free(ctx, &picture);
  return status;
}

static lamina_status write_plots(lamina_context *ctx, const lamina_memory_report *report, const char *folder,
                                 FILE *stream)
{
  for (size_t i = 0; i < lmi_report_plot_count; i++) {
    const lmi_report_plot *plot = &lmi_report_plots[i];
    fprintf(stream, "<h2>%s</h2>\n", plot->title);
    if (plot->has_data(report))
      LMI_TRY(draw(ctx, report, plot, folder, stream));
    else
      fprintf(stream, "<p class=\"absent\">No plot: %s.</p>\n", plot->absent);
  }
  return LAMINA_OK;
}

static lamina_status write_page(lamina_context *ctx, const lamina_memory_report *report, const char *folder,
                                FILE *stream)
{
  fputs(HEAD, stream);
  LMI_TRY(write_plots(ctx, report, folder, stream));
  for (size_t i = 0; i < report->profile_count; i++) {
    const lmi_report_profile *profile = &report->profiles[i];
    fputs("<h2>", stream);
    escape(stream, profile->path);
    fprintf(stream, "</h2>\n<p>Source: %s.</p>\n",
            lamina_profile_source_name(lamina_profile_get_summary(profile->profile)->source));
    write_processes(profile, stream);
    fputs("<h3>Phases</h3>\n", stream);
    write_phases(profile, stream);
    write_tiers(report, profile, stream);
    write_objects(profile, stream);
    write_remarks(profile, stream);
  }
  fputs("</body></html>\n", stream);
  return LAMINA_OK;
}

lamina_status lamina_memory_report_save_html(lamina_context *ctx, const lamina_memory_report *report, const char *path)
{
  lmi_text folder = {0}, temporary = {0};
  FILE *stream = NULL;
  lamina_status status = LAMINA_OK;
  LMI_TRY_GOTO(status, lmi_text_append(ctx, &folder, "%s.plots", path), cleanup);
  LMI_TRY_GOTO(status, lmi_text_append(ctx, &temporary, "%s.%d.part", path, (int)getpid()), cleanup);
  if (mkdir(folder.data, 0777) != 0 && errno != EEXIST)
    LMI_TRY_GOTO(status, lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "the folder %s cannot be made", folder.data),
                 cleanup);
  stream = fopen(temporary.data, "w");
  if (stream == NULL)
    LMI_TRY_GOTO(status, lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path), cleanup);
  status = write_page(ctx, report, folder.data, stream);
  const bool failed = ferror(stream) != 0;
  const bool closed = fclose(stream) == 0;
  if (status == LAMINA_OK && (failed || !closed || rename(temporary.data, path) != 0))
    status = lmi_fail_errno(ctx, LAMINA_ERROR_FILE, errno, "%s cannot be written", path);
  if (status != LAMINA_OK)
    unlink(temporary.data);
cleanup:
  lmi_text_free(ctx, &folder);
  lmi_text_free(ctx, &temporary);
  return status;
}
