/* SPDX-License-Identifier: Apache-2.0 */
/* Names inside a field file, for its writer and its reader. */
#ifndef LMI_FIELD_FORMAT_H
#define LMI_FIELD_FORMAT_H

#include "hdf5_store.h"

#define LMI_FIELD_GROUP "/lamina"
#define LMI_FIELD_ATTRIBUTES "/lamina/attributes"

enum { LMI_FIELD_NAME_BYTES = 200, LMI_FIELD_PATH_BYTES = LMI_FIELD_NAME_BYTES + 32 };

static const lmi_store_kind lmi_field_kind = {.name = "fields", .version = 1};

/* "/VTKHDF/CellData/NAME"; `buffer` holds LMI_FIELD_PATH_BYTES. */
const char *lmi_field_path(const char *name, char *buffer);

#endif
