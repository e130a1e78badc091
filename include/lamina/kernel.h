/* SPDX-License-Identifier: Apache-2.0 */
/* How a kernel over cells is written: once, as the body of a function of one cell. LAMINA_KERNEL makes of it the
 * functions the host runs, in single and double precision, and keeps the text for a compiler on a device.
 *
 *   LAMINA_KERNEL(heat_step, (OLD, NEW, RATE),
 *     const real here = LAMINA_IN(OLD, 0);
 *     const real sum = LAMINA_NEAR(OLD, 0, -1, 0, 0) + LAMINA_NEAR(OLD, 0, 1, 0, 0);
 *     LAMINA_OUT(NEW, 0) = here + LAMINA_VALUE(RATE) * (sum - 2 * here);
 *   )
 *
 * The second argument names the arguments of the kernel in the order in which lamina_kernel_options lists them: fields
 * and numbers. `real` is float or double, as the fields are. The body may `return` early; it declares what it likes; it
 * uses nothing from outside but the macros below, functions of <math.h> and constants, for it is compiled alone where a
 * device runs it. It has no preprocessor line and no comment with //.
 *
 * What a body may touch is what its options declare (lamina/grid.h): other cells of a field only as LAMINA_NEAR with
 * constant offsets of the declared stencil; a neighbour that was not declared reads as NaN. Cells are visited in any
 * order and at the same time. A compiler that contracts a * b + c may do so differently where cells lie apart: compile
 * with -ffp-contract=off if the bits must not depend on the layout. */
#ifndef LAMINA_KERNEL_H
#define LAMINA_KERNEL_H

#include <stdbool.h>

#include <lamina/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LAMINA_MAX_ARGUMENTS = 8,
  LAMINA_NEIGHBOURS = 27,
  LAMINA_CENTRE = 13,
};

/* Number of the neighbour at an offset of -1, 0 or 1 along each axis; bit of a stencil. */
#define LAMINA_NEIGHBOUR(dx, dy, dz) (13 + (dx) + 3 * (dy) + 9 * (dz))

/* ---- what a body may use ---- */

/* Component of a field in this cell, or in a neighbour. */
#define LAMINA_IN(field, c) LAMINA_NEAR(field, c, 0, 0, 0)
#define LAMINA_NEAR(field, c, dx, dy, dz)                         \
  (((const real *)lamina_run_->fields[field].at[LAMINA_NEIGHBOUR( \
    dx, dy, dz)])[(c)*lamina_run_->fields[field].component[LAMINA_NEIGHBOUR(dx, dy, dz)] + LAMINA_PLACE_(field)])

/* Component of a field in this cell, to be assigned to. */
#define LAMINA_OUT(field, c) \
  (((real *)lamina_run_->fields[field].out)[(c)*lamina_run_->fields[field].out_component + LAMINA_PLACE_(field)])

/* A number among the arguments. */
#define LAMINA_VALUE(number) ((real)lamina_run_->values[number])

/* Position of this cell in the domain. */
#define LAMINA_X (lamina_run_->first.x + lamina_i_)
#define LAMINA_Y (lamina_run_->first.y + lamina_row_)
#define LAMINA_Z (lamina_run_->first.z)

/* Gives this cell's share to the reduction of the kernel. */
#define LAMINA_REDUCE(share) lamina_reduce(lamina_run_->reduction, lamina_result_, (double)(share))

/* ---- a kernel ---- */

typedef enum lamina_reduction {
  LAMINA_REDUCE_NONE,
  LAMINA_REDUCE_SUM, /* of doubles, in one fixed order */
  LAMINA_REDUCE_MAX, /* not a number as soon as one share is */
  LAMINA_REDUCE_MIN,
} lamina_reduction;

/* A run of neighbouring cells, in one row or alike in several, as the library hands it to a kernel: for each field
 * where the first cell and its neighbours lie. */
typedef struct lamina_run_field {
  const void *at[LAMINA_NEIGHBOURS];         /* component 0 of the first cell's neighbour */
  lamina_index component[LAMINA_NEIGHBOURS]; /* elements from one component to the next there */
  void *out;
  lamina_index out_component;
  lamina_index stride, row; /* elements between cells, and between rows */
} lamina_run_field;

typedef struct lamina_run {
  lamina_run_field fields[LAMINA_MAX_ARGUMENTS];
  double values[LAMINA_MAX_ARGUMENTS];
  lamina_int3 first; /* in the domain */
  lamina_index count, rows;
  lamina_reduction reduction;
  bool is_unit; /* all strides are 1 */
} lamina_run;

typedef void lamina_run_function(const lamina_run *run, double *result);

/* A kernel as LAMINA_KERNEL defines it. */
typedef struct lamina_kernel_text {
  const char *name, *arguments, *body;
  lamina_run_function *run_f32, *run_f64;
} lamina_kernel_text;

static inline void lamina_reduce(lamina_reduction reduction, double *result, double share)
{
  if (reduction == LAMINA_REDUCE_SUM)
    *result += share;
  else if (share != share || (reduction == LAMINA_REDUCE_MAX && share > *result) ||
           (reduction == LAMINA_REDUCE_MIN && share < *result))
    *result = share;
}

#if defined(__GNUC__)
#define LAMINA_INLINE_ static inline __attribute__((always_inline))
#define LAMINA_RESTRICT_ __restrict__
#else
#define LAMINA_INLINE_ static inline
#define LAMINA_RESTRICT_
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define LAMINA_INDEPENDENT_ _Pragma("GCC ivdep")
#else
#define LAMINA_INDEPENDENT_
#endif

#define LAMINA_PLACE_(field) \
  (lamina_i_ * (lamina_unit_ ? 1 : lamina_run_->fields[field].stride) + lamina_row_ * lamina_run_->fields[field].row)
#define LAMINA_NAMES_(...) \
  {                        \
    __VA_ARGS__            \
  }

/* The body in one precision; the loop twice, so that unit strides are known when it is compiled. */
#define LAMINA_KERNEL_OF_(name, type, names, ...)                                                                     \
  LAMINA_INLINE_ void name##_##type##_cell(const lamina_run *LAMINA_RESTRICT_ lamina_run_, lamina_index lamina_i_,    \
                                           lamina_index lamina_row_, bool lamina_unit_,                               \
                                           double *LAMINA_RESTRICT_ lamina_result_)                                   \
  {                                                                                                                   \
    typedef type real;                                                                                                \
    enum LAMINA_NAMES_ names;                                                                                         \
    (void)lamina_result_, (void)lamina_run_, (void)lamina_i_, (void)lamina_row_, (void)lamina_unit_;                  \
    __VA_ARGS__                                                                                                       \
  }                                                                                                                   \
  static void name##_##type(const lamina_run *LAMINA_RESTRICT_ run, double *LAMINA_RESTRICT_ result)                  \
  {                                                                                                                   \
    const lamina_index count = run->count, rows = run->rows;                                                          \
    double reduced = *result;                                                                                         \
    for (lamina_index r = 0; r < rows; r++) {                                                                         \
      if (run->is_unit) {                                                                                             \
        LAMINA_INDEPENDENT_ for (lamina_index i = 0; i < count; i++) name##_##type##_cell(run, i, r, true, &reduced); \
      } else {                                                                                                        \
        for (lamina_index i = 0; i < count; i++)                                                                      \
          name##_##type##_cell(run, i, r, false, &reduced);                                                           \
      }                                                                                                               \
    }                                                                                                                 \
    *result = reduced;                                                                                                \
  }

#define LAMINA_KERNEL(name, names, ...)               \
  LAMINA_KERNEL_OF_(name, float, names, __VA_ARGS__)  \
  LAMINA_KERNEL_OF_(name, double, names, __VA_ARGS__) \
  static const lamina_kernel_text name = {#name, #names, #__VA_ARGS__, name##_float, name##_double};

#ifdef __cplusplus
}
#endif

#endif
