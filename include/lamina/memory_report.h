/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what was recorded: one or several profiles (runs of one program with growing inputs, say) as text, JSON or one
 * HTML page with its plots in it. Measures nothing.
 *
 *   lamina_memory_report *report = NULL;
 *   lamina_memory_report_create(context, paths, 2, "machine.json", &report);
 *   lamina_memory_report_print(context, report, LAMINA_REPORT_TEXT, stdout);
 *   lamina_memory_report_save_html(context, report, "report.html");
 *   lamina_memory_report_destroy(context, report);
 */
#ifndef LAMINA_MEMORY_REPORT_H
#define LAMINA_MEMORY_REPORT_H

#include <stdio.h>

#include <lamina/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lamina_memory_report lamina_memory_report;

typedef enum lamina_report_form { LAMINA_REPORT_TEXT, LAMINA_REPORT_JSON } lamina_report_form;

enum { LAMINA_REPORT_MOST_PROFILES = 64 };

/* Reads `count` profiles (files or folders) and, when `machine` is not NULL, a machine file for roofs and capacities.
 * Errors: ARGUMENT (count), and those of lamina_profile_read and lamina_machine_load. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_memory_report_create(lamina_context *context, const char *const *paths,
                                                                      size_t count, const char *machine,
                                                                      lamina_memory_report **report);

LAMINA_API LAMINA_NODISCARD lamina_status lamina_memory_report_print(lamina_context *context,
                                                                     const lamina_memory_report *report,
                                                                     lamina_report_form form, FILE *stream);

/* One self-contained file; data and scripts of its plots stay in PATH.plots. Without gnuplot the page says so in the
 * place of each plot. Errors: FILE. */
LAMINA_API LAMINA_NODISCARD lamina_status lamina_memory_report_save_html(lamina_context *context,
                                                                         const lamina_memory_report *report,
                                                                         const char *path);

LAMINA_API void lamina_memory_report_destroy(lamina_context *context, lamina_memory_report *report);

#ifdef __cplusplus
}
#endif

#endif
