/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are late at random: a program that uses a halo before it has arrived, or a slot before it was sent, is
 * found out. LAMINA_CHECK_DELAY_US is the longest delay in microseconds; without it messages are as fast as they are.
 */
#ifndef LMI_CHECK_EXCHANGE_H
#define LMI_CHECK_EXCHANGE_H

#include "base/ranks.h"

LAMINA_NODISCARD lamina_status lmi_check_exchange_create(lamina_context *ctx, const lmi_message *messages, size_t count,
                                                         lmi_exchange **exchange);

#endif
