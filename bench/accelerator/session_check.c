/* SPDX-License-Identifier: Apache-2.0 */
/* The device against the processor. Both compute the same text with the same roundings: populations agree to the bit.
 */
#include <math.h>

#include "session.h"

#include "support/random_case.h"

static case_outcome run(const random_case *drawn, lamina_backend backend)
{
  const case_outcome outcome = random_case_run(drawn, backend);
  if (outcome.status != LAMINA_OK)
    session_print(json_pack("{s:s, s:s}", "task", "failure", "message", outcome.message));
  return outcome;
}

int session_check(unsigned seed, int count)
{
  int different = 0;
  unsigned state = seed;
  for (int i = 0; i < count; i++) {
    const random_case drawn = random_case_draw(&state);
    case_outcome host = run(&drawn, LAMINA_BACKEND_CPU), device = run(&drawn, LAMINA_BACKEND_CUDA);
    const bool are_done = host.status == LAMINA_OK && device.status == LAMINA_OK;
    const double difference = are_done ? case_outcome_difference(&host, &device, drawn.options.precision) : NAN;
    if (difference != 0.0 || host.totals.mass_excess != device.totals.mass_excess) {
      char text[256];
      random_case_describe(&drawn, text);
      different++;
      session_print(json_pack("{s:s, s:s, s:b, s:f}", "task", "different", "case", text, "ran", are_done,
                              "largest_difference", are_done ? difference : 0.0));
    }
    case_outcome_free(&host);
    case_outcome_free(&device);
  }
  session_print(json_pack("{s:s, s:i, s:i, s:i}", "task", "check", "seed", (int)seed, "combinations", count,
                          "different", different));
  return different == 0 ? 0 : 5;
}

/* Relative L2 of the shifted populations after 200 steps, against the processor in f64. */
static double relative_error(const case_outcome *judge, const case_outcome *other, bool is_double)
{
  double error = 0.0, norm = 0.0;
  for (size_t i = 0; i < judge->bytes / sizeof(double); i++) {
    const double exact = ((const double *)judge->planes)[i];
    const double value = is_double ? ((const double *)other->planes)[i] : (double)((const float *)other->planes)[i];
    error += (value - exact) * (value - exact);
    norm += exact * exact;
  }
  return sqrt(error / norm);
}

static void compare_with(const case_outcome *judge, const random_case *drawn, const char *name)
{
  case_outcome other = run(drawn, LAMINA_BACKEND_CUDA);
  if (other.status == LAMINA_OK)
    session_print(json_pack("{s:s, s:s, s:s, s:f, s:f, s:f}", "task", "accuracy", "what", name, "lattice",
                            lamina_lattice_name(drawn->options.lattice), "relative_l2",
                            relative_error(judge, &other, drawn->options.precision == LAMINA_F64), "mass_excess",
                            other.totals.mass_excess, "judge_mass_excess", judge->totals.mass_excess));
  case_outcome_free(&other);
}

int session_accuracy(void)
{
  static const lamina_lattice lattices[] = {LAMINA_D3Q19, LAMINA_D3Q27};
  for (int i = 0; i < 2; i++) {
    random_case drawn = {.options = session_cavity(48), .steps = 200};
    drawn.options.lattice = lattices[i];
    drawn.options.precision = LAMINA_F64;
    case_outcome judge = run(&drawn, LAMINA_BACKEND_CPU);
    compare_with(&judge, &drawn, "f64");
    drawn.options.precision = LAMINA_F32;
    compare_with(&judge, &drawn, "f32");
    drawn.options.storage = LAMINA_STORAGE_F16;
    compare_with(&judge, &drawn, "f32, storage f16");
    case_outcome_free(&judge);
  }
  return 0;
}
