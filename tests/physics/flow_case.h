/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a shipped case with overrides, on one thread, and hands back its result. */
#ifndef LMI_FLOW_CASE_H
#define LMI_FLOW_CASE_H

#include "support/test.h"

#include <lamina/case.h>

#include "base/base.h"

typedef struct flow_case {
  lamina_context *ctx;
  lamina_case *flow;
  lamina_run_result *result;
  lamina_status status;
} flow_case;

/* `overrides` is a NULL-terminated list, or NULL. A comparison that misses its gate is no failure here: the tests look
 * at the numbers. */
static inline flow_case flow_case_run(const char *name, const char *const *overrides)
{
  flow_case made = {0};
  char path[512];
  size_t count = 0;
  while (overrides != NULL && overrides[count] != NULL)
    count++;
  lamina_context_options options = lamina_context_options_default();
  options.threads = 1;
  assert_int_equal(lamina_context_create(&options, &made.ctx), LAMINA_OK);
  snprintf(path, sizeof path, "%s/cases/%s", LAMINA_SOURCE_DIR, name);
  if (lamina_case_load(made.ctx, path, overrides, count, &made.flow) != LAMINA_OK)
    fail_msg("%s", lamina_error_message(made.ctx));
  made.status = lamina_case_run(made.ctx, made.flow, NULL, &made.result);
  if (made.status != LAMINA_OK && made.status != LAMINA_ERROR_CHECK)
    fail_msg("%s", lamina_error_message(made.ctx));
  for (size_t i = 0; i < made.result->reference_count; i++)
    print_message("%s\n", made.result->references[i].text);
  return made;
}

static inline void flow_case_end(flow_case *made)
{
  lamina_run_result_destroy(made->result);
  lamina_case_destroy(made->flow);
  lamina_context_destroy(made->ctx);
}

/* Runs and returns the error of the comparison of that name (the first whose name begins so). */
static inline double flow_case_error(const char *name, const char *const *overrides, const char *reference)
{
  flow_case made = flow_case_run(name, overrides);
  double error = -1.0;
  for (size_t i = 0; i < made.result->reference_count && error < 0; i++)
    if (strncmp(made.result->references[i].name, reference, strlen(reference)) == 0)
      error = made.result->references[i].max_error;
  flow_case_end(&made);
  assert_true(error >= 0.0);
  return error;
}

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
