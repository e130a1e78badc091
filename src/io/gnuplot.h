/* SPDX-License-Identifier: Apache-2.0 */
/* Runs gnuplot on a script file. Reports keep script and data beside each picture, so a missing gnuplot costs only the
 * picture. */
#ifndef LMI_GNUPLOT_H
#define LMI_GNUPLOT_H

#include <lamina/context.h>

/* Runs `gnuplot SCRIPT` in the script's folder; the script names its files relative to it. UNAVAILABLE when gnuplot is
 * not installed, SYSTEM (with what gnuplot said) when it fails or takes longer than 60 s. */
LAMINA_NODISCARD lamina_status lmi_gnuplot_run(lamina_context *ctx, const char *script_path);

#endif
