/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instrumentation. A superblock appends one record to a buffer: stores only, no call, except a guarded one at its start
 * that empties a full buffer. Which accesses the record stands for is known at translation (replay.h), so an address is
 * stored once for all accesses that differ from it by a constant: a[i-1], a[i] and a[i+1] are one word.
 *
 * A superblock may be left early. The record's header and the buffer's end are stored before every exit, with the
 * description of the part up to there; a signal inside loses the part since the last exit, never the buffer's shape. */
#include "tracer.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"

enum { LINE_BYTES = 64, VALUES_MAX = 512 };

static uint64_t buffer[LMT_BUFFER_WORDS + LMT_BLOCK_WORDS + 2] __attribute__((aligned(64)));
static uint64_t *buffer_end = buffer;

void lmt_buffer_take(const uint64_t **begin, const uint64_t **end)
{
  *begin = buffer;
  *end = buffer_end;
  buffer_end = buffer;
}

/* What is known of a temporary: its value is that of `base`, plus `offset`. */
typedef struct value {
  IRTemp base;
  int64_t offset;
} value;

/* An operation seen before, on the bases of its operands. */
typedef struct known {
  IROp op;
  IRTemp left, right;
  uint64_t constant;
  IRTemp result;
  int64_t offset; /* of `result` against the operation on the bases alone */
} known;

/* One superblock being instrumented. */
typedef struct builder {
  IRSB *out;
  IRExpr *record; /* address of the record's header */
  value *values;  /* of each temporary of the incoming block */
  known seen[VALUES_MAX];
  UInt seen_count;
  IRTemp slot_base[LMT_BLOCK_WORDS];
  lmt_block block;
  lmt_grouping grouping;
  UInt fused[LMT_FLOP_COUNT]; /* scalar fused operations of the current instruction */
} builder;

static builder work;

static IRExpr *word(uint64_t constant)
{
  return IRExpr_Const(IRConst_U64(constant));
}

static IRExpr *assign(IRSB *out, IRType type, IRExpr *expression)
{
  const IRTemp temp = newIRTemp(out->tyenv, type);
  addStmtToIRSB(out, IRStmt_WrTmp(temp, expression));
  return IRExpr_RdTmp(temp);
}

/* ---- what addresses have in common ---- */

static value value_of(const builder *b, const IRExpr *operand)
{
  return b->values[operand->Iex.RdTmp.tmp];
}

static Bool constant_of(const IRExpr *operand, uint64_t *constant)
{
  if (operand->tag != Iex_Const || operand->Iex.Const.con->tag != Ico_U64)
    return False;
  *constant = operand->Iex.Const.con->Ico.U64;
  return True;
}

static Bool fits(int64_t offset)
{
  return offset == (int32_t)offset;
}

/* Gives `temp` the base of an equal operation seen before, or makes it a base itself. */
static void number_value(builder *b, IRTemp temp, known operation)
{
  for (UInt i = 0; i < b->seen_count; i++) {
    const known *seen = &b->seen[i];
    if (seen->op == operation.op && seen->left == operation.left && seen->right == operation.right &&
        seen->constant == operation.constant && fits(operation.offset - seen->offset)) {
      b->values[temp] = (value){.base = seen->result, .offset = operation.offset - seen->offset};
      return;
    }
  }
  operation.result = temp;
  if (b->seen_count < VALUES_MAX)
    b->seen[b->seen_count++] = operation;
}

static void number_binary(builder *b, IRTemp temp, const IRExpr *expression)
{
  const IROp op = expression->Iex.Binop.op;
  const IRExpr *left = expression->Iex.Binop.arg1, *right = expression->Iex.Binop.arg2;
  uint64_t constant;
  if (left->tag != Iex_RdTmp)
    return;
  const value base = value_of(b, left);
  if ((op == Iop_Add64 || op == Iop_Sub64) && constant_of(right, &constant)) {
    const int64_t offset = base.offset + (op == Iop_Add64 ? (int64_t)constant : -(int64_t)constant);
    if (fits(offset))
      b->values[temp] = (value){.base = base.base, .offset = offset};
  } else if (op == Iop_Add64 && right->tag == Iex_RdTmp) {
    const value other = value_of(b, right);
    number_value(b, temp,
                 (known){.op = op, .left = base.base, .right = other.base, .offset = base.offset + other.offset});
  } else if (op == Iop_Shl64 && right->tag == Iex_Const && right->Iex.Const.con->tag == Ico_U8) {
    const UInt shift = right->Iex.Const.con->Ico.U8 & 63;
    const int64_t offset = (int64_t)((uint64_t)base.offset << shift);
    if (shift <= 4 && fits(offset))
      number_value(b, temp, (known){.op = op, .left = base.base, .constant = shift, .offset = offset});
  }
}

static void learn(builder *b, const IRStmt *statement)
{
  const IRTemp temp = statement->Ist.WrTmp.tmp;
  const IRExpr *expression = statement->Ist.WrTmp.data;
  if (expression->tag == Iex_Binop)
    number_binary(b, temp, expression);
  else if (expression->tag == Iex_RdTmp)
    b->values[temp] = value_of(b, expression);
}

/* ---- the record ---- */

static IRExpr *record_word(builder *b, UInt index)
{
  if (index == 0)
    return b->record;
  return assign(b->out, Ity_I64, IRExpr_Binop(Iop_Add64, b->record, word(8 * (uint64_t)index)));
}

static void store_word(builder *b, UInt index, IRExpr *content)
{
  addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, record_word(b, index), content));
}

/* A new slot that holds `content`; `base` is the temporary it stands for. */
static UInt new_slot(builder *b, IRTemp base, IRExpr *content)
{
  const UInt slot = b->block.slot_count++;
  b->slot_base[slot] = base;
  store_word(b, slot + 1, content);
  return slot;
}

static UInt slot_of_base(builder *b, IRTemp base)
{
  for (UInt slot = b->block.slot_count; slot-- > 0;)
    if (b->slot_base[slot] == base)
      return slot;
  return new_slot(b, base, IRExpr_RdTmp(base));
}

static UInt slot_of_address(builder *b, IRExpr *address, IRExpr *guard, int64_t *delta)
{
  *delta = 0;
  if (guard != NULL)
    return new_slot(b, IRTemp_INVALID, assign(b->out, Ity_I64, IRExpr_ITE(guard, address, word(0))));
  if (address->tag != Iex_RdTmp)
    return new_slot(b, IRTemp_INVALID, address);
  const value known_value = value_of(b, address);
  *delta = known_value.offset;
  return slot_of_base(b, known_value.base);
}

/* One access of the program, before the statement that does it. More than 64 bytes (saved vector state) are several. */
static void trace_access(builder *b, IRExpr *address, UInt bytes, Bool is_write, IRExpr *guard)
{
  if (bytes == 0)
    return;
  if (b->block.slot_count + 3 > LMT_BLOCK_WORDS) {
    tracer.dropped_accesses++;
    return;
  }
  int64_t delta;
  const UInt slot = slot_of_address(b, address, guard, &delta);
  for (UInt done = 0; done < bytes; done += LINE_BYTES) {
    const lmt_access access = {.delta = (int32_t)(delta + done),
                               .slot = (uint16_t)slot,
                               .bytes = (uint8_t)(bytes - done < LINE_BYTES ? bytes - done : LINE_BYTES),
                               .is_write = is_write != False,
                               .is_guarded = guard != NULL};
    if (!lmt_grouping_add(&b->grouping, &access)) {
      tracer.dropped_accesses++;
      return;
    }
    b->block.statics[is_write ? LMT_stores : LMT_loads]++;
    b->block.statics[is_write ? LMT_store_bytes : LMT_load_bytes] += access.bytes;
  }
}

/* Completes the record as it stands: header and end of the buffer. */
static void close_record(builder *b)
{
  b->block.has_flops = 0;
  for (UInt class = 0; class < LMT_LANES; class ++)
    b->block.has_flops |= b->block.flops[class] != 0;
  b->block.group_count = lmt_grouping_close(&b->grouping);
  b->block.groups = b->grouping.group;
  const lmt_block *kept = lmt_block_keep(&b->block);
  store_word(b, 0, word((Addr)kept));
  addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, word((Addr)&buffer_end), record_word(b, b->block.slot_count + 1u)));
}

/* ---- floating point ---- */

/* Vector fused multiply-adds reach us lane by lane: several lanes of one instruction are one instruction of their
 * width. */
static void count_fused(builder *b)
{
  static const struct {
    UInt lanes;
    enum lmt_flop scalar, vector;
  } widths[] = {{8, LMT_fp_f32, LMT_fp_f32x8},
                {4, LMT_fp_f32, LMT_fp_f32x4},
                {4, LMT_fp_f64, LMT_fp_f64x4},
                {2, LMT_fp_f64, LMT_fp_f64x2}};
  for (UInt i = 0; i < sizeof widths / sizeof widths[0]; i++)
    if (b->fused[widths[i].scalar] == widths[i].lanes) {
      b->block.flops[widths[i].vector] += 2;
      b->fused[widths[i].scalar] = 0;
    }
  for (UInt class = 0; class < LMT_FLOP_COUNT; class ++) {
    b->block.flops[class] += 2 * b->fused[class];
    b->fused[class] = 0;
  }
}

static void count_flops(builder *b, const IRExpr *expression)
{
  enum lmt_flop class;
  const UInt count = lmt_flops_of(expression, &class);
  if (count == 2)
    b->fused[class]++;
  else if (count == 1)
    b->block.flops[class]++;
}

/* ---- statements ---- */

static void trace_cas(builder *b, const IRCAS *cas)
{
  const IRType type = typeOfIRExpr(b->out->tyenv, cas->dataLo);
  const UInt bytes = (UInt)sizeofIRType(type) * (cas->dataHi != NULL ? 2 : 1);
  trace_access(b, cas->addr, bytes, False, NULL);
  trace_access(b, cas->addr, bytes, True, NULL);
}

static void trace_dirty(builder *b, const IRDirty *dirty)
{
  IRExpr *guard = dirty->guard->tag == Iex_Const ? NULL : dirty->guard;
  if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify)
    trace_access(b, dirty->mAddr, (UInt)dirty->mSize, False, guard);
  if (dirty->mFx == Ifx_Write || dirty->mFx == Ifx_Modify)
    trace_access(b, dirty->mAddr, (UInt)dirty->mSize, True, guard);
}

static void trace_guarded_load(builder *b, const IRLoadG *load)
{
  IRType wide, loaded;
  typeOfIRLoadGOp(load->cvt, &wide, &loaded);
  trace_access(b, load->addr, (UInt)sizeofIRType(loaded), False, load->guard);
}

static UInt size_of(const builder *b, const IRExpr *expression)
{
  return (UInt)sizeofIRType(typeOfIRExpr(b->out->tyenv, expression));
}

static void trace_statement(builder *b, IRStmt *statement)
{
  switch (statement->tag) {
  case Ist_IMark:
    count_fused(b);
    b->block.statics[LMT_instructions]++;
    break;
  case Ist_WrTmp:
    if (statement->Ist.WrTmp.data->tag == Iex_Load)
      trace_access(b, statement->Ist.WrTmp.data->Iex.Load.addr,
                   (UInt)sizeofIRType(statement->Ist.WrTmp.data->Iex.Load.ty), False, NULL);
    else
      count_flops(b, statement->Ist.WrTmp.data);
    learn(b, statement);
    break;
  case Ist_Store: trace_access(b, statement->Ist.Store.addr, size_of(b, statement->Ist.Store.data), True, NULL); break;
  case Ist_LoadG: trace_guarded_load(b, statement->Ist.LoadG.details); break;
  case Ist_StoreG:
    trace_access(b, statement->Ist.StoreG.details->addr, size_of(b, statement->Ist.StoreG.details->data), True,
                 statement->Ist.StoreG.details->guard);
    break;
  case Ist_CAS: trace_cas(b, statement->Ist.CAS.details); break;
  case Ist_Dirty: trace_dirty(b, statement->Ist.Dirty.details); break;
  case Ist_Exit: close_record(b); break;
  default: break;
  }
}

/* A full buffer is emptied before the superblock writes anything. */
static void open_record(builder *b)
{
  IRExpr *end_address = word((Addr)&buffer_end);
  IRExpr *end = assign(b->out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, end_address));
  IRDirty *drain = unsafeIRDirty_0_N(0, "lmt_drain", VG_(fnptr_to_fnentry)(lmt_drain), mkIRExprVec_0());
  drain->guard = assign(b->out, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, word((Addr)(buffer + LMT_BUFFER_WORDS)), end));
  addStmtToIRSB(b->out, IRStmt_Dirty(drain));
  b->record = assign(b->out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, end_address));
}

static void start_builder(builder *b, IRSB *in)
{
  const UInt temps = (UInt)in->tyenv->types_used;
  b->out = deepCopyIRSBExceptStmts(in);
  b->values = VG_(malloc)("lmt.values", temps * sizeof *b->values);
  for (UInt temp = 0; temp < temps; temp++)
    b->values[temp] = (value){.base = temp};
  b->seen_count = 0;
  lmt_grouping_start(&b->grouping, tracer.options.model.l1.ways, tracer.options.model.l1.sets);
  VG_(memset)(&b->block, 0, sizeof b->block);
  VG_(memset)(b->fused, 0, sizeof b->fused);
}

IRSB *lmt_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
                     const VexArchInfo *arch, IRType guest_word, IRType host_word)
{
  builder *b = &work;
  Int i = 0;
  (void)closure, (void)layout, (void)extents, (void)arch, (void)guest_word, (void)host_word;
  start_builder(b, in);
  for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
    addStmtToIRSB(b->out, in->stmts[i]);
  open_record(b);
  for (; i < in->stmts_used; i++) {
    IRStmt *statement = in->stmts[i];
    if (statement == NULL || statement->tag == Ist_NoOp)
      continue;
    trace_statement(b, statement);
    addStmtToIRSB(b->out, statement);
  }
  count_fused(b);
  close_record(b);
  VG_(free)(b->values);
  return b->out;
}
