/* SPDX-License-Identifier: Apache-2.0 */
/* What a solver's open faces and bodies can be told and asked. */
#include <math.h>

#include "boundary_cells.h"
#include "solver_internal.h"

lamina_status lamina_solver_scale_face(lamina_solver *solver, lamina_face_index face, double factor)
{
  const bool is_face = (int)face >= 0 && face < LAMINA_FACE_COUNT;
  const lamina_face_kind kind = is_face ? solver->options.faces[face].kind : LAMINA_FACE_WALL;
  LMI_REQUIRE(solver->ctx, kind == LAMINA_FACE_VELOCITY || kind == LAMINA_FACE_PRESSURE, LAMINA_ERROR_ARGUMENT,
              "face %d asks for no velocity and no pressure that could be scaled", (int)face);
  LMI_REQUIRE(solver->ctx, isfinite(factor), LAMINA_ERROR_ARGUMENT, "a factor of %g for face %s: it must be finite",
              factor, lmi_face_name((int)face));
  if (solver->flow->boundary != NULL)
    lmi_boundary_scale_face(solver->flow->boundary, lmi_kernel_face(&solver->options, (int)face), factor);
  return LAMINA_OK;
}

static lamina_status check_body(const lamina_solver *solver, int body)
{
  const lmi_boundary *b = solver->flow->boundary;
  const int count = b != NULL ? b->body_count : 0;
  LMI_REQUIRE(
    solver->ctx, count > 0, LAMINA_ERROR_ARGUMENT,
    "there is no body whose links are kept: give options.geometry, and options.loads where bodies rest and are "
    "not curved");
  LMI_REQUIRE(solver->ctx, body >= 1 && body <= count, LAMINA_ERROR_ARGUMENT, "body %d: there are bodies 1 to %d", body,
              count);
  return LAMINA_OK;
}

lamina_status lamina_solver_scale_motion(lamina_solver *solver, int body, double factor)
{
  LMI_TRY(check_body(solver, body));
  LMI_REQUIRE(solver->ctx, isfinite(factor), LAMINA_ERROR_ARGUMENT, "a factor of %g for body %d: it must be finite",
              factor, body);
  lmi_boundary_scale_motion(solver->flow->boundary, body, factor);
  return LAMINA_OK;
}

lamina_status lamina_solver_body_load(const lamina_solver *solver, int body, lamina_body_load *load)
{
  lmi_load sum;
  *load = (lamina_body_load){{0, 0, 0}, {0, 0, 0}};
  LMI_TRY(check_body(solver, body));
  LMI_TRY(lmi_boundary_fetch_exchange(solver->flow->boundary, solver->flow->device));
  LMI_TRY(lmi_boundary_sum_load(solver->flow->boundary, body, &sum));
  load->force = (lamina_real3){sum.force[0], sum.force[1], sum.force[2]};
  load->torque = (lamina_real3){sum.torque[0], sum.torque[1], sum.torque[2]};
  return LAMINA_OK;
}
