/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices of one host: their links, and that slabs on them compute what the processor does. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "session.h"

#include "support/random_case.h"

enum { REPETITIONS = 5 };

static lamina_context *open_context(void)
{
  lamina_context *ctx = NULL;
  session_require(NULL, lamina_context_create(NULL, &ctx), "context");
  return ctx;
}

void session_use_devices(lamina_solver_options *options, int count)
{
  options->device_count = count;
  for (int i = 0; i < count && i < LAMINA_MAX_DEVICES; i++)
    options->devices[i] = i;
}

session_holder session_hold_devices(int count)
{
  session_holder holder = {.ctx = open_context()};
  lamina_solver_options options = session_cavity(8);
  session_use_devices(&options, count);
  session_require(holder.ctx, lamina_solver_create(holder.ctx, &options, &holder.solver), "devices");
  return holder;
}

void session_release_devices(session_holder *holder)
{
  lamina_solver_destroy(holder->solver);
  lamina_context_destroy(holder->ctx);
}

/* A plane a slab: as much of a solver as asks for all its kernels. */
int session_compile(int row_count, char **rows)
{
  for (int i = 0; i < row_count; i++) {
    lamina_solver_options options = session_parse_row(rows[i]);
    lamina_context *ctx = open_context();
    lamina_solver *solver = NULL;
    options.cells.z = options.partitions > 1 ? options.partitions : 1;
    session_use_devices(&options, 1);
    session_require(ctx, lamina_solver_create(ctx, &options, &solver), rows[i]);
    lamina_solver_destroy(solver);
    lamina_context_destroy(ctx);
  }
  return 0;
}

static int count_devices(lamina_context *ctx)
{
  lamina_accelerator device;
  int count = 0;
  while (count < LAMINA_MAX_DEVICES && lamina_accelerator_read(ctx, count, &device) == LAMINA_OK) {
    session_print(json_pack("{s:s, s:i, s:s, s:I}", "task", "device", "ordinal", count, "name", device.name,
                            "free_bytes", (json_int_t)device.free_bytes));
    count++;
  }
  lamina_error_clear(ctx);
  return count;
}

static json_t *spread(lamina_spread s)
{
  return json_pack("[f, f, f]", s.median, s.low, s.high);
}

int session_peers(void)
{
  lamina_context *ctx = open_context();
  const int count = count_devices(ctx);
  for (int from = 0; from < count; from++)
    for (int to = from + 1; to < count; to++) {
      lamina_accelerator_peer peer;
      session_require(ctx, lamina_accelerator_measure_peer(ctx, from, to, REPETITIONS, &peer), "peer");
      session_print(json_pack("{s:s, s:i, s:i, s:b, s:b, s:i, s:b, s:o, s:o, s:o, s:o}", "task", "peer", "from", from,
                              "to", to, "direct", peer.direct, "native_atomics", peer.native_atomics,
                              "performance_rank", peer.performance_rank, "in_graphs", peer.in_graphs, "copy_us",
                              spread(peer.copy_us), "graph_copy_us", spread(peer.graph_copy_us), "gb_per_s",
                              spread(peer.gb_per_s), "gb_per_s_both_ways", spread(peer.gb_per_s_both_ways)));
    }
  lamina_context_destroy(ctx);
  return 0;
}

/* ---- the same bits ---- */

/* Walls along x with a moving one, the other axes joined: slabs form a ring. */
static random_case make_case(lamina_lattice lattice, lamina_layout layout)
{
  random_case made = {.options = session_cavity(24), .steps = 51};
  lamina_solver_options *options = &made.options;
  options->cells = (lamina_int3){40, 12, 24};
  options->lattice = lattice;
  options->layout = layout;
  for (int face = LAMINA_FACE_Y_LOW; face < LAMINA_FACE_COUNT; face++)
    options->faces[face] = (lamina_face){.kind = LAMINA_FACE_PERIODIC};
  options->faces[LAMINA_FACE_X_HIGH].velocity.z = 0.04;
  return made;
}

/* How slabs talk: directly, by messages under computation, by messages before it; each in every kind of replay. */
static int compare_transports(const case_outcome *judge, random_case *drawn, int devices)
{
  static const char *const replays[] = {"graphs", "meetings", "streams"};
  int different = 0;
  for (int mode = 0; mode < 3; mode++)
    for (int replay = 0; replay < 3; replay++)
      for (int slabs = devices; slabs <= 2 * devices; slabs += devices) {
        setenv("LAMINA_CUDA_REPLAY", replays[replay], 1);
        drawn->options.copy_messages = mode > 0;
        drawn->options.no_overlap = mode == 2;
        drawn->options.partitions = slabs;
        case_outcome outcome = random_case_run(drawn, LAMINA_BACKEND_CUDA);
        const bool is_equal = outcome.status == LAMINA_OK && outcome.bytes == judge->bytes &&
                              memcmp(outcome.planes, judge->planes, judge->bytes) == 0;
        different += !is_equal;
        if (!is_equal) {
          char text[256];
          random_case_describe(drawn, text);
          session_print(json_pack("{s:s, s:s, s:s, s:i, s:s}", "task", "different", "case", text, "replay",
                                  replays[replay], "devices", devices, "message", outcome.message));
        }
        case_outcome_free(&outcome);
      }
  return different;
}

int session_equal(int devices, const char *layout)
{
  int different = 0, compared = 0, at = 0;
  while (lamina_layout_name((lamina_layout)at) != NULL && strcmp(lamina_layout_name((lamina_layout)at), layout) != 0)
    at++;
  session_holder holder = session_hold_devices(devices);
  for (int lattice = LAMINA_D3Q19; lattice <= LAMINA_D3Q27; lattice++)
    for (int streaming = LAMINA_ESOTERIC_PULL; streaming <= LAMINA_TWO_GRID; streaming++) {
      random_case drawn = make_case((lamina_lattice)lattice, (lamina_layout)at);
      drawn.options.streaming = (lamina_streaming)streaming;
      case_outcome judge = random_case_run(&drawn, LAMINA_BACKEND_CPU);
      session_use_devices(&drawn.options, devices);
      different += compare_transports(&judge, &drawn, devices);
      compared += 18;
      case_outcome_free(&judge);
    }
  session_print(json_pack("{s:s, s:i, s:s, s:i, s:i}", "task", "equal", "devices", devices, "layout", layout,
                          "combinations", compared, "different", different));
  session_release_devices(&holder);
  return different == 0 ? 0 : 5;
}
