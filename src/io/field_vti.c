/* SPDX-License-Identifier: Apache-2.0 */
/* XML ImageData: a head in text, then each array as its length (8 bytes) and its planes, as they stand in the field
 * file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "field_file.h"
#include "field_xdmf.h"
#include "safe_file.h"

static uint64_t array_bytes(const lmi_field_content *content, const lmi_field_array *array)
{
  const lamina_int3 cells = content->frame.cells;
  const uint64_t element = array->precision == LAMINA_F64 ? sizeof(double) : sizeof(float);
  return (uint64_t)cells.x * (uint64_t)cells.y * (uint64_t)cells.z * (uint64_t)array->components * element;
}

static lamina_status append_triple(lamina_context *ctx, lmi_text *head, const char *name, lamina_real3 value)
{
  char x[32], y[32], z[32];
  return lmi_text_append(ctx, head, " %s=\"%s %s %s\"", name, lmi_format_double(value.x, x),
                         lmi_format_double(value.y, y), lmi_format_double(value.z, z));
}

static lamina_status append_arrays(lamina_context *ctx, lmi_text *head, const lmi_field_content *content)
{
  uint64_t offset = 0;
  for (size_t i = 0; i < content->array_count; i++) {
    const lmi_field_array *array = &content->arrays[i];
    LMI_TRY(lmi_text_append(ctx, head, "<DataArray type=\"%s\" Name=\"",
                            array->precision == LAMINA_F64 ? "Float64" : "Float32"));
    LMI_TRY(lmi_xml_append(ctx, head, array->name));
    LMI_TRY(lmi_text_append(ctx, head, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
                            array->components, offset));
    offset += sizeof(uint64_t) + array_bytes(content, array);
  }
  return LAMINA_OK;
}

static lamina_status append_head(lamina_context *ctx, lmi_text *head, const lmi_field_content *content)
{
  const lmi_field_frame *frame = &content->frame;
  char extent[96], time[32];
  snprintf(extent, sizeof extent, "0 %" PRId64 " 0 %" PRId64 " 0 %" PRId64, frame->cells.x, frame->cells.y,
           frame->cells.z);
  LMI_TRY(lmi_text_append(ctx, head,
                          "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" "
                          "header_type=\"UInt64\">\n<ImageData WholeExtent=\"%s\"",
                          __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian", extent));
  LMI_TRY(append_triple(ctx, head, "Origin", frame->origin));
  LMI_TRY(append_triple(ctx, head, "Spacing", frame->spacing));
  LMI_TRY(lmi_text_append(ctx, head,
                          ">\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                          "format=\"ascii\">%s</DataArray>\n</FieldData>\n<Piece Extent=\"%s\">\n<CellData>\n",
                          lmi_format_double(frame->time, time), extent));
  LMI_TRY(append_arrays(ctx, head, content));
  return lmi_text_append(ctx, head, "%s", "</CellData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_");
}

static lamina_status write_array(const lmi_safe_file *out, lmi_field_file *file, size_t array)
{
  const lmi_field_content *content = lmi_field_file_content(file);
  const uint64_t length = array_bytes(content, &content->arrays[array]);
  LMI_TRY(lmi_safe_file_write(out, &length, sizeof length));
  for (lamina_index z = 0; z < content->frame.cells.z; z++) {
    const void *plane = NULL;
    size_t bytes = 0;
    LMI_TRY(lmi_field_file_read_plane(file, array, z, &plane, &bytes));
    LMI_TRY(lmi_safe_file_write(out, plane, bytes));
  }
  return LAMINA_OK;
}

static lamina_status write_all(const lmi_safe_file *out, lmi_field_file *file, const lmi_text *head)
{
  static const char tail[] = "\n</AppendedData>\n</VTKFile>\n";
  const lmi_field_content *content = lmi_field_file_content(file);
  uint64_t bytes = head->length + sizeof tail - 1;
  for (size_t i = 0; i < content->array_count; i++)
    bytes += sizeof(uint64_t) + array_bytes(content, &content->arrays[i]);
  LMI_TRY(lmi_safe_file_reserve(out, bytes));
  LMI_TRY(lmi_safe_file_write(out, head->data, head->length));
  for (size_t i = 0; i < content->array_count; i++)
    LMI_TRY(write_array(out, file, i));
  return lmi_safe_file_write(out, tail, sizeof tail - 1);
}

lamina_status lmi_field_vti_write(lamina_context *ctx, lmi_field_file *file, const char *path)
{
  lmi_text head = {0};
  lmi_safe_file out = {.ctx = ctx, .descriptor = -1};
  lamina_status status = append_head(ctx, &head, lmi_field_file_content(file));
  if (status == LAMINA_OK)
    status = lmi_safe_file_create(ctx, path, &out);
  if (status == LAMINA_OK)
    status = write_all(&out, file, &head);
  if (status == LAMINA_OK)
    status = lmi_safe_file_commit(&out);
  lmi_safe_file_discard(&out);
  lmi_text_free(ctx, &head);
  return status;
}
