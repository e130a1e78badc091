/* SPDX-License-Identifier: Apache-2.0 */
/* Letters as strokes of a pen, so that they can be drawn smoothly at any size. */
#ifndef LMI_STROKE_FONT_H
#define LMI_STROKE_FONT_H

/* Each point is two characters, x (0 to 8) and y (0 to d, hexadecimal); points follow without a gap, and a blank lifts
 * the pen. The baseline is y = 3, a capital reaches 12, a small x 9, a tail 0. Never NULL: unknown letters are a box.
 */
enum { LMI_FONT_BASELINE = 3, LMI_FONT_CAPITAL = 9, LMI_FONT_GAP = 3, LMI_FONT_BLANK = 5 };

/* The strokes of the letter at *text, which moves to the next letter (UTF-8). */
const char *lmi_font_next(const char **text);

/* Greatest x of the strokes. */
int lmi_font_width(const char *strokes);

#endif
