/* SPDX-License-Identifier: Apache-2.0 */
/* Names of specialised functions, and small words that every text uses. */
#ifndef LMK_NAMING_H
#define LMK_NAMING_H

#define LMK_PASTE(a, b) a##b
#define LMK_PASTE_EXPANDED(a, b) LMK_PASTE(a, b)
#define LMK_NAME(name) LMK_PASTE_EXPANDED(lmk_##name##_, LMK_SUFFIX)

/* A constant in the arithmetic type of the text. */
#define LMK_C(value) ((LMK_REAL)(value))

/* sum + c * term for a velocity component c of -1, 0, 1 known at compile time. */
#define LMK_ADD_C(c, sum, term) ((c) == 0 ? (sum) : (c) > 0 ? (sum) + (term) : (sum) - (term))

/* Start of a sum. -0 + x is x for every x, so a compiler may drop the addition; 0 + x is not (x = -0). */
#define LMK_EMPTY_SUM LMK_C(-0.0)

/* c . v for the velocity (cx, cy, cz) of a lattice row. */
#define LMK_DOT(cx, cy, cz, vx, vy, vz) LMK_ADD_C(cz, LMK_ADD_C(cy, LMK_ADD_C(cx, LMK_EMPTY_SUM, vx), vy), vz)

enum { LMK_MAX_Q = 27 };

#endif
