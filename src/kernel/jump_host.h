/* SPDX-License-Identifier: Apache-2.0 */
/* Puts what crosses a jump between levels into the lanes of a block (jump.h). Part of block_host.h. */

LMK_INLINE LMK_REAL LMK_NAME(jump_weight)(const lmk_jump_term *term)
{
  return sizeof(LMK_REAL) == sizeof(float) ? (LMK_REAL)term->weight_f32 : (LMK_REAL)term->weight;
}

LMK_INLINE LMK_REAL LMK_NAME(sum_jump)(const lmk_block_step *step, lmk_jump_link link)
{
  const lmk_jumps *jumps = step->jumps;
  const lmk_jump_pattern pattern = jumps->patterns[lmk_jump_pattern_of(link)];
  const lmk_jump_term *terms = jumps->terms + pattern.first;
  const int32_t *cells = jumps->cells + link.first;
  LMK_REAL sum = LMK_C(0);
  for (uint32_t t = 0; t < pattern.count; t++) {
    const lmk_jump_term *term = &terms[t];
    LMK_REAL value;
    if (term->from == LMK_FROM_WALL)
      value = (LMK_REAL)step->momentum[cells[t]][term->q];
    else
      value = ((const LMK_REAL *)jumps->from[term->from])[lmk_cell_element(cells[t], term->q, LMK_Q)];
    sum = LMK_FMA(LMK_NAME(jump_weight)(term), value, sum);
  }
  return sum;
}

static __attribute__((noinline)) void LMK_NAME(put_jumps)(const lmk_block_step *step, int32_t block,
                                                          const lmk_rows *rows)
{
  const lmk_jumps *jumps = step->jumps;
  for (uint32_t i = jumps->first[block]; i < jumps->first[block + 1]; i++) {
    const lmk_jump_link link = jumps->links[i];
    ((LMK_REAL *)rows->read[lmk_jump_q(link)])[lmk_jump_bit(link)] = LMK_NAME(sum_jump)(step, link);
  }
}
