/* SPDX-License-Identifier: Apache-2.0 */
#include "field.h"

static lamina_status piece_layout(lamina_context *ctx, const lmi_partition *partition, int p,
                                  const lmi_layout_request *request, lmi_field_piece *piece)
{
  lmi_layout_request own = *request;
  own.planes = partition->slabs[p].planes;
  LMI_TRY(lmi_layout_make(ctx, &own, &piece->layout));
  piece->bytes = (size_t)piece->layout.elements * request->element_bytes;
  return LAMINA_OK;
}

lamina_status lmi_field_create(lmi_device *device, const lmi_partition *partition, const lmi_layout_request *request,
                               lmi_field *field)
{
  lamina_status status = LAMINA_OK;
  *field = (lmi_field){.device = device, .partition = partition, .request = *request};
  LMI_TRY(LMI_ALLOC(device->ctx, (size_t)partition->count, &field->pieces));
  for (int p = 0; p < partition->count; p++) {
    lmi_field_piece *piece = &field->pieces[p];
    LMI_TRY_GOTO(status, piece_layout(device->ctx, partition, p, request, piece), cleanup);
    if (lmi_partition_is_own(partition, p))
      LMI_TRY_GOTO(status, device->ops->allocate(device, p, piece->bytes, &piece->memory), cleanup);
  }
cleanup:
  if (status != LAMINA_OK)
    lmi_field_free(field);
  return status;
}

void lmi_field_free(lmi_field *field)
{
  if (field->pieces == NULL)
    return;
  for (int p = 0; p < field->partition->count; p++)
    if (field->pieces[p].memory != NULL)
      field->device->ops->release(field->device, p, field->pieces[p].memory, field->pieces[p].bytes);
  lmi_free(field->device->ctx, field->pieces);
  *field = (lmi_field){0};
}

uint64_t lmi_field_bytes(const lmi_field *field)
{
  uint64_t bytes = 0;
  for (int p = 0; field->pieces != NULL && p < field->partition->count; p++)
    bytes += field->pieces[p].bytes;
  return bytes;
}

lamina_status lmi_field_estimate(lamina_context *ctx, const lmi_partition *partition, const lmi_layout_request *request,
                                 uint64_t *bytes)
{
  *bytes = 0;
  for (int p = 0; p < partition->count; p++) {
    lmi_field_piece piece;
    LMI_TRY(piece_layout(ctx, partition, p, request, &piece));
    *bytes += piece.bytes;
  }
  return LAMINA_OK;
}
