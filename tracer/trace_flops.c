/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which operations of the intermediate code are floating-point instructions. The list follows what Intel's event
 * FP_ARITH_INST_RETIRED counts: add, subtract, multiply, divide, square root, minimum, maximum, reciprocal (square
 * root) estimates, fused multiply-add. Comparisons and conversions are not in it. */
#include "tracer.h"

/* X(operation of 64-bit lanes, of 32-bit lanes) */
#define ARITHMETIC(X, lanes64, lanes32) \
  X(Iop_Add##lanes64, Iop_Add##lanes32) \
  X(Iop_Sub##lanes64, Iop_Sub##lanes32) \
  X(Iop_Mul##lanes64, Iop_Mul##lanes32) \
  X(Iop_Div##lanes64, Iop_Div##lanes32)

#define SELECTION(X, lanes64, lanes32)  \
  X(Iop_Max##lanes64, Iop_Max##lanes32) \
  X(Iop_Min##lanes64, Iop_Min##lanes32)

#define PAIR(op64, op32)  \
  case op64: return wide; \
  case op32: return wide + 1;

/* In each class of lmt_flop the 32-bit variant follows the 64-bit one. */
static Int scalar_class(IROp op)
{
  enum { wide = LMT_fp_f64 };
  switch (op) {
    ARITHMETIC(PAIR, F64, F32)
    ARITHMETIC(PAIR, 64F0x2, 32F0x4)
    SELECTION(PAIR, 64F0x2, 32F0x4)
    PAIR(Iop_SqrtF64, Iop_SqrtF32)
    PAIR(Iop_Sqrt64F0x2, Iop_Sqrt32F0x4)
    PAIR(Iop_MAddF64, Iop_MAddF32)
    PAIR(Iop_MSubF64, Iop_MSubF32)
  case Iop_RecipEst32F0x4:
  case Iop_RSqrtEst32F0x4: return LMT_fp_f32;
  default: return -1;
  }
}

static Int vector_class(IROp op)
{
  enum { wide = LMT_fp_f64x2 };
  switch (op) {
    ARITHMETIC(PAIR, 64Fx2, 32Fx4)
    SELECTION(PAIR, 64Fx2, 32Fx4)
    PAIR(Iop_Sqrt64Fx2, Iop_Sqrt32Fx4)
  case Iop_RecipEst32Fx4:
  case Iop_RSqrtEst32Fx4: return LMT_fp_f32x4;
  default: return -1;
  }
}

static Int wide_vector_class(IROp op)
{
  enum { wide = LMT_fp_f64x4 };
  switch (op) {
    ARITHMETIC(PAIR, 64Fx4, 32Fx8)
    SELECTION(PAIR, 64Fx4, 32Fx8)
    PAIR(Iop_Sqrt64Fx4, Iop_Sqrt32Fx8)
  case Iop_RecipEst32Fx8:
  case Iop_RSqrtEst32Fx8: return LMT_fp_f32x8;
  default: return -1;
  }
}

static IROp operation(const IRExpr *expression)
{
  switch (expression->tag) {
  case Iex_Unop: return expression->Iex.Unop.op;
  case Iex_Binop: return expression->Iex.Binop.op;
  case Iex_Triop: return expression->Iex.Triop.details->op;
  case Iex_Qop: return expression->Iex.Qop.details->op;
  default: return Iop_INVALID;
  }
}

UInt lmt_flops_of(const IRExpr *expression, enum lmt_flop *class)
{
  const IROp op = operation(expression);
  Int found = scalar_class(op);
  if (found < 0)
    found = vector_class(op);
  if (found < 0)
    found = wide_vector_class(op);
  if (found < 0)
    return 0;
  *class = (enum lmt_flop)found;
  return op == Iop_MAddF64 || op == Iop_MSubF64 || op == Iop_MAddF32 || op == Iop_MSubF32 ? 2 : 1;
}
