/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LMI_FIVE_NUMBERS_H
#define LMI_FIVE_NUMBERS_H

#include <lamina/interference.h>

#include "base/base.h"

/* Quantile of rising values, part 0 to 1, linear between them; NAN for none. */
double lmi_quantile(const double *sorted, size_t count, double part);

/* median(above) / median(below) of `count` rounds, and the 95 % interval of a bootstrap that draws rounds (of both
 * together: what harmed a round harmed both). above == below gives 1 and the scatter of their median. One round: NAN
 * for low and high. The draws are always the same. */
typedef struct lmi_ratio_band {
  double ratio, low, high;
} lmi_ratio_band;
LAMINA_NODISCARD lamina_status lmi_ratio_of_medians(lamina_context *ctx, const double *above, const double *below,
                                                    size_t count, lmi_ratio_band *band);

#endif
