/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void session_require(lamina_context *ctx, lamina_status status, const char *what)
{
  if (status == LAMINA_OK)
    return;
  fprintf(stderr, "session: %s: %s\n", what, lamina_error_message(ctx));
  exit(lamina_status_exit_code(status));
}

void session_print(json_t *object)
{
  json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
  putchar('\n');
  fflush(stdout);
  json_decref(object);
}

lamina_solver_options session_cavity(lamina_index cells)
{
  lamina_solver_options options = lamina_solver_options_default();
  options.cells = (lamina_int3){cells, cells, cells};
  options.omega = 1.7;
  for (int face = 0; face < LAMINA_FACE_COUNT; face++)
    options.faces[face].kind = LAMINA_FACE_WALL;
  options.faces[LAMINA_FACE_Z_HIGH].velocity.x = 0.05;
  options.backend = LAMINA_BACKEND_CUDA;
  return options;
}

int main(int argc, char **argv)
{
  const char *task = argc > 1 ? argv[1] : "";
  if (strcmp(task, "check") == 0 && argc == 4)
    return session_check((unsigned)strtoul(argv[2], NULL, 10), atoi(argv[3]));
  if (strcmp(task, "accuracy") == 0)
    return session_accuracy();
  if (strcmp(task, "ceilings") == 0)
    return session_ceilings();
  if (strcmp(task, "time") == 0)
    return session_time(argc - 2, argv + 2);
  if (strcmp(task, "halo") == 0)
    return session_halo();
  if (strcmp(task, "compile") == 0)
    return session_compile(argc - 2, argv + 2);
  if (strcmp(task, "peers") == 0)
    return session_peers();
  if (strcmp(task, "equal") == 0 && argc == 4)
    return session_equal(atoi(argv[2]), argv[3]);
  fprintf(stderr, "session: check SEED COUNT | accuracy | ceilings | time ROWS... | halo | compile ROWS... | peers | "
                  "equal DEVICES LAYOUT\n");
  return 2;
}
