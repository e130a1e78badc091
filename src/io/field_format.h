/* SPDX-License-Identifier: Apache-2.0 */
/* Names inside a field file, for its writer and its reader. */
#ifndef LMI_FIELD_FORMAT_H
#define LMI_FIELD_FORMAT_H

#include "field_file.h"
#include "hdf5_store.h"

#define LMI_FIELD_ROOT "/VTKHDF"
#define LMI_FIELD_TYPE_BOX "ImageData"
#define LMI_FIELD_TYPE_LEVELS "OverlappingAMR"
#define LMI_FIELD_GROUP "/lamina"
#define LMI_FIELD_ATTRIBUTES "/lamina/attributes"

enum { LMI_FIELD_NAME_BYTES = 200, LMI_FIELD_PATH_BYTES = LMI_FIELD_NAME_BYTES + 40 };

/* One box is version 1; levels came with 2. */
enum { LMI_FIELD_VERSION_BOX = 1, LMI_FIELD_VERSION_LEVELS = 2 };
static const lmi_store_kind lmi_field_kind = {.name = "fields", .version = LMI_FIELD_VERSION_LEVELS};

/* Refuses a frame, arrays or attributes that no file can hold. */
LAMINA_NODISCARD lamina_status lmi_field_check(lamina_context *ctx, const lmi_field_content *content);

/* Step, time, the names of the arrays, and the caller's texts. */
LAMINA_NODISCARD lamina_status lmi_field_put_texts(lamina_context *ctx, lmi_store *store,
                                                   const lmi_field_content *content);

/* "/VTKHDF/CellData/NAME"; `buffer` holds LMI_FIELD_PATH_BYTES. */
const char *lmi_field_path(const char *name, char *buffer);

#endif
