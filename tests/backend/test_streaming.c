/* SPDX-License-Identifier: Apache-2.0 */
/* Equal bits on a sample of the variants: one in 89, another one for each flow. test_streaming_wide.c runs more. */
#include "equal_bits.h"

enum { STRIDE = 89 };

static void d2q9(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D2Q9, STRIDE);
}

static void d3q19(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D3Q19, STRIDE);
}

static void d3q27(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D3Q27, STRIDE);
}

/* Slabs of one, two and three planes, and rows shorter than a vector. */
static void thin_slabs_and_short_rows(void **state)
{
  (void)state;
  static const lamina_int3 cells[] = {{1, 1, 1}, {2, 1, 3}, {5, 4, 2}, {16, 2, 3}, {33, 1, 2}, {64, 3, 5}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    for (int box = 0; box < BOXES; box++)
      for (int slabs = 1; slabs <= cells[i].z; slabs++)
        for (int streaming = 0; streaming < 3; streaming++) {
          lamina_solver_options options = box_options(LAMINA_D3Q19, box, true);
          options.cells = cells[i];
          size_t bytes = 0;
          const variant v = {LAMINA_LAYOUT_DISAGGREGATED, (lamina_streaming)streaming, slabs, 2, LAMINA_GRID_DENSE};
          unsigned char *expected = run_variant(options, &judge, 5, &bytes),
                        *found = run_variant(options, &v, 5, &bytes);
          assert_memory_equal(found, expected, bytes);
          free(expected);
          free(found);
        }
}

LMI_TEST_MAIN(cmocka_unit_test(d2q9), cmocka_unit_test(d3q19), cmocka_unit_test(d3q27),
              cmocka_unit_test(thin_slabs_and_short_rows))
