/* SPDX-License-Identifier: Apache-2.0 */
/* What every test file includes first: cmocka, and a main that runs all cases or the one that is named.
 *
 *   static void adds(void **state) { ... }
 *   LMI_TEST_MAIN(cmocka_unit_test(adds))
 */
#ifndef LMI_TEST_H
#define LMI_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define LMI_TEST_MAIN(...)                                                          \
  int main(int argc, char **argv)                                                   \
  {                                                                                 \
    const struct CMUnitTest cases[] = {__VA_ARGS__};                                \
    if (argc > 1 && !lmi_test_select(argv[1], cases, sizeof cases / sizeof *cases)) \
      return 2;                                                                     \
    return cmocka_run_group_tests(cases, NULL, NULL);                               \
  }

/* Leaves the case as skipped and says why. */
#define LMI_SKIP(...)                       \
  do {                                      \
    print_message("skipped: " __VA_ARGS__); \
    print_message("\n");                    \
    skip();                                 \
  } while (0)

/* A name that is not among the cases is a failure: a test that ran nothing has shown nothing. */
static inline int lmi_test_select(const char *name, const struct CMUnitTest *cases, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (strcmp(cases[i].name, name) == 0) {
      cmocka_set_test_filter(name);
      return 1;
    }
  fprintf(stderr, "there is no case '%s'\n", name);
  return 0;
}

#endif
