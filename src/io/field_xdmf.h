/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an XDMF 2 index: one grid for each file of a series. It points into the HDF5 files and holds no values.
 */
#ifndef LMI_FIELD_XDMF_H
#define LMI_FIELD_XDMF_H

#include "base/base.h"
#include "field_file.h"

LAMINA_NODISCARD lamina_status lmi_xdmf_begin(lamina_context *ctx, lmi_text *text);

/* One file of the series; its arrays and cells are those of `content`. */
LAMINA_NODISCARD lamina_status lmi_xdmf_add(lamina_context *ctx, lmi_text *text, const lmi_field_content *content,
                                            const char *file_name, double time);
/* Text with the signs that mean something in XML replaced. */
LAMINA_NODISCARD lamina_status lmi_xml_append(lamina_context *ctx, lmi_text *text, const char *raw);

LAMINA_NODISCARD lamina_status lmi_xdmf_end(lamina_context *ctx, lmi_text *text);

#endif
