/* SPDX-License-Identifier: Apache-2.0 */
/* Equal bits on one variant in eight; with LAMINA_ALL_VARIANTS in the environment on all 53 760 runs (a quarter of an
 * hour). */
#include "equal_bits.h"

static int stride(void)
{
  return getenv("LAMINA_ALL_VARIANTS") != NULL ? 1 : 8;
}

static void d2q9(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D2Q9, stride());
}

static void d3q19(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D3Q19, stride());
}

static void d3q27(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D3Q27, stride());
}

LMI_TEST_MAIN(cmocka_unit_test(d2q9), cmocka_unit_test(d3q19), cmocka_unit_test(d3q27))
