/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LMI_JSON_OUTPUT_H
#define LMI_JSON_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "base/base.h"

/* Prints one object with all digits that tell and a line end, and releases it. `what` it is of stands in the error when
 * it is NULL (MEMORY) or holds what JSON cannot say (SYSTEM). A stream that cannot be written is not an error here: its
 * owner looks at it when flushing. */
LAMINA_NODISCARD lamina_status lmi_json_print(lamina_context *ctx, json_t *object, const char *what, FILE *stream);

#endif
