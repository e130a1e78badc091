/* SPDX-License-Identifier: Apache-2.0 */
/* One sitting at a machine with an accelerator: checks first, then timings, all as JSON objects, one a line, on stdout.
 *
 *   session check SEED COUNT        random combinations, device against processor, to the bit
 *   session accuracy                200 steps of a cavity: f64, f32, f16 on the device against f64 on the processor
 *   session ceilings                streams in place, links, set-up times
 *   session time ROWS...            MLUPS of named rows (session.c), median and spread
 *   session halo                    partitions on one device: layouts, overlap */
#ifndef SESSION_H
#define SESSION_H

#include <jansson.h>

#include <lamina/lamina.h>

/* Ends the program with the context's sentence when a call failed. */
void session_require(lamina_context *ctx, lamina_status status, const char *what);
void session_print(json_t *object);

/* A box with walls all around, the z+ wall moving along x. */
lamina_solver_options session_cavity(lamina_index cells);

int session_check(unsigned seed, int count);
int session_accuracy(void);
int session_ceilings(void);
int session_time(int row_count, char **rows);
int session_halo(void);

#endif
