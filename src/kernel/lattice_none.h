/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a lattice back, so that a text can be included once for each. */
#undef LMK_Q
#undef LMK_CROSSING
#undef LMK_HAS_Y
#undef LMK_W_REST
#undef LMK_PAIRS
