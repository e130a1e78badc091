/* SPDX-License-Identifier: Apache-2.0 */
/* Fields must open in the readers that people use: h5py, VTK, ParaView. field_readers.py judges; this file writes. */
#define _GNU_SOURCE
#include "support/test.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "io/field_file.h"

enum { NX = 5, NY = 4, NZ = 3, CELLS = NX * NY * NZ };

static void write_centres(void)
{
  static double x[CELLS], y[CELLS], z[CELLS], pressure[CELLS];
  for (int i = 0; i < CELLS; i++) {
    x[i] = -1.0 + 0.1 * (i % NX + 0.5);
    y[i] = 0.5 + 0.2 * (i / NX % NY + 0.5);
    z[i] = 2.0 + 0.3 * (i / (NX * NY) + 0.5);
    pressure[i] = x[i] + 10 * y[i] + 100 * z[i];
  }
  const lmi_field_array arrays[] = {{"velocity", "m/s", 3, LAMINA_F64}, {"pressure", "Pa", 1, LAMINA_F32}};
  const lmi_text_pair attributes[] = {{"title", "centres"}};
  const lmi_field_content content = {
    .frame = {.cells = {NX, NY, NZ}, .origin = {-1.0, 0.5, 2.0}, .spacing = {0.1, 0.2, 0.3}, .time = 1.25, .step = 7},
    .arrays = arrays,
    .array_count = 2,
    .attributes = attributes,
    .attribute_count = 1};
  const double *const velocity[] = {x, y, z}, *const scalar[] = {pressure};
  lamina_context *ctx = NULL;
  assert_int_equal(lamina_context_create(NULL, &ctx), LAMINA_OK);
  unlink("fields.vtkhdf.series");
  assert_int_equal(
    lmi_field_file_write(ctx, "fields.vtkhdf", &content, (const double *const *const[]){velocity, scalar}), LAMINA_OK);
  lmi_field_file *file = NULL;
  assert_int_equal(lmi_field_file_open(ctx, "fields.vtkhdf", &file), LAMINA_OK);
  assert_int_equal(lmi_field_vti_write(ctx, file, "fields.vti"), LAMINA_OK);
  lmi_field_file_close(file);
  assert_int_equal(lmi_field_series_add(ctx, "fields", "fields.vtkhdf", &content), LAMINA_OK);
  lamina_context_destroy(ctx);
}

/* Tries each program until one has the reader; skips when none has. */
static void open_with(const char *reader, const char *const *programs)
{
  write_centres();
  char folder[PATH_MAX], command[3 * PATH_MAX];
  assert_non_null(getcwd(folder, sizeof folder));
  for (size_t i = 0; programs[i] != NULL; i++) {
    snprintf(command, sizeof command, "%s '" LAMINA_SOURCE_DIR "/tests/unit/field_readers.py' %s '%s' 2>reader.err",
             programs[i], reader, folder);
    const int state = system(command);
    assert_true(WIFEXITED(state));
    const int code = WEXITSTATUS(state);
    if (code == 0)
      return;
    if (code != 77 && code != 127)
      fail_msg("%s says the file is wrong (%d); see reader.err", programs[i], code);
  }
  LMI_SKIP("no %s that can read these files", reader);
}

static void opens_in_h5py(void **state)
{
  (void)state;
  open_with("h5py", (const char *const[]){"/usr/bin/python3", "python3", NULL});
}

/* LAMINA_VTK_PYTHON names a Python that has VTK 9.3 or later, for instance of a virtual environment. */
static void opens_in_vtk(void **state)
{
  (void)state;
  const char *chosen = getenv("LAMINA_VTK_PYTHON");
  open_with("vtk", (const char *const[]){chosen != NULL ? chosen : "python3", "/usr/bin/python3", NULL});
}

static void opens_in_any_vtk_as_vti(void **state)
{
  (void)state;
  const char *chosen = getenv("LAMINA_VTK_PYTHON");
  open_with("vti", (const char *const[]){"/usr/bin/python3", "python3", "pvpython", chosen, NULL});
}

static void opens_in_paraview(void **state)
{
  (void)state;
  open_with("paraview", (const char *const[]){"pvpython", NULL});
}

LMI_TEST_MAIN(cmocka_unit_test(opens_in_h5py), cmocka_unit_test(opens_in_vtk),
              cmocka_unit_test(opens_in_any_vtk_as_vti), cmocka_unit_test(opens_in_paraview))
