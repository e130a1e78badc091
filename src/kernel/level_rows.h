/* SPDX-License-Identifier: Apache-2.0 */
/* The host's kernel over blocks of a level (level_host.h). Host only. */
#ifndef LMK_LEVEL_ROWS_H
#define LMK_LEVEL_ROWS_H

typedef int64_t lmk_update_level_function(const lmk_level_step *step, int what, int64_t first, int64_t count);

#endif
