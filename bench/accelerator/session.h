/* SPDX-License-Identifier: Apache-2.0 */
/* One sitting at a machine with an accelerator: checks first, then timings, all as JSON objects, one a line, on stdout.
 *
 *   session check SEED COUNT        random combinations, device against processor, to the bit
 *   session accuracy                200 steps of a cavity: f64, f32, f16 on the device against f64 on the processor
 *   session ceilings                streams in place, links, set-up times
 *   session time [seconds=S] ROWS   MLUPS of named rows (session_time.c), median and spread
 *   session compile ROWS            only puts the kernels of the rows into the cache
 *   session halo                    partitions on one device: layouts, overlap
 *   session peers                   links between the devices: setting up a copy, rates
 *   session equal DEVICES LAYOUT    slabs on several devices against the processor, to the bit */
#ifndef SESSION_H
#define SESSION_H

#include <jansson.h>

#include <lamina/lamina.h>

/* Ends the program with the context's sentence when a call failed. */
void session_require(lamina_context *ctx, lamina_status status, const char *what);
void session_print(json_t *object);

/* A box with walls all around, the z+ wall moving along x. */
lamina_solver_options session_cavity(lamina_index cells);

/* As session_time.c describes them; sets LAMINA_CUDA_REPLAY to what the row says. */
lamina_solver_options session_parse_row(const char *row);
void session_use_devices(lamina_solver_options *options, int count);

/* Keeps devices open: opening them takes longer than many a row. */
typedef struct session_holder {
  lamina_context *ctx;
  lamina_solver *solver;
} session_holder;

session_holder session_hold_devices(int count);
void session_release_devices(session_holder *holder);

int session_check(unsigned seed, int count);
int session_accuracy(void);
int session_ceilings(void);
int session_time(int row_count, char **rows);
int session_halo(void);
int session_compile(int row_count, char **rows);
int session_peers(void);
int session_equal(int devices, const char *layout);

#endif
