/* SPDX-License-Identifier: Apache-2.0 */
/* Small boxes with everything about them drawn from a seed, and what a backend makes of them. */
#ifndef RANDOM_CASE_H
#define RANDOM_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include <lamina/solver.h>

typedef struct random_case {
  lamina_solver_options options;
  lamina_index steps;
} random_case;

/* The next case after `state`, which it moves on. */
random_case random_case_draw(unsigned *state);

/* One line of words for messages. */
void random_case_describe(const random_case *drawn, char text[256]);

/* A smooth flow that differs in every cell. */
lamina_initial_function random_case_start;

typedef struct case_outcome {
  lamina_status status; /* of the first call that failed */
  char message[512];
  char *planes; /* populations in canonical order; the caller frees them with case_outcome_free */
  size_t bytes;
  lamina_totals totals;
} case_outcome;

/* Runs on one thread of the host, or on the first device. */
case_outcome random_case_run(const random_case *drawn, lamina_backend backend);
void case_outcome_free(case_outcome *outcome);

/* The largest difference of two populations; NAN when one of them is not finite. */
double case_outcome_difference(const case_outcome *a, const case_outcome *b, lamina_precision precision);

#endif
