/* SPDX-License-Identifier: Apache-2.0 */
/* Equal bits on every variant: minutes of work. */
#include "equal_bits.h"

static void d2q9(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D2Q9, 1);
}

static void d3q19(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D3Q19, 1);
}

static void d3q27(void **state)
{
  (void)state;
  compare_lattice(LAMINA_D3Q27, 1);
}

LMI_TEST_MAIN(cmocka_unit_test(d2q9), cmocka_unit_test(d3q19), cmocka_unit_test(d3q27))
