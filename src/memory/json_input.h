/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the small JSON files that people give us: machine, tiers, calibration. */
#ifndef LMI_JSON_INPUT_H
#define LMI_JSON_INPUT_H

#include <jansson.h>

#include "base/base.h"

/* The whole file; the caller releases it with json_decref. Errors: CASE (cannot be read, or line and what is
 * wrong). */
LAMINA_NODISCARD lamina_status lmi_json_input(lamina_context *ctx, const char *path, json_t **object);

#endif
