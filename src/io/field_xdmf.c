/* SPDX-License-Identifier: Apache-2.0 */
/* XDMF lists sizes from the slowest axis to the fastest, as HDF5 does: z, y, x. */
#include "field_xdmf.h"

#include <inttypes.h>
#include <string.h>

#include "field_format.h"

lamina_status lmi_xdmf_begin(lamina_context *ctx, lmi_text *text)
{
  return lmi_text_append(ctx, text, "%s",
                         "<?xml version=\"1.0\"?>\n"
                         "<Xdmf Version=\"2.0\">\n"
                         "<Domain>\n"
                         "<Grid Name=\"series\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
}

lamina_status lmi_xdmf_end(lamina_context *ctx, lmi_text *text)
{
  return lmi_text_append(ctx, text, "%s", "</Grid>\n</Domain>\n</Xdmf>\n");
}

lamina_status lmi_xml_append(lamina_context *ctx, lmi_text *text, const char *raw)
{
  for (; *raw != '\0'; raw++) {
    switch (*raw) {
    case '&': LMI_TRY(lmi_text_append(ctx, text, "&amp;")); break;
    case '<': LMI_TRY(lmi_text_append(ctx, text, "&lt;")); break;
    case '>': LMI_TRY(lmi_text_append(ctx, text, "&gt;")); break;
    case '"': LMI_TRY(lmi_text_append(ctx, text, "&quot;")); break;
    default: LMI_TRY(lmi_text_append(ctx, text, "%c", *raw));
    }
  }
  return LAMINA_OK;
}

static lamina_status append_triple(lamina_context *ctx, lmi_text *text, lamina_real3 value)
{
  char x[32], y[32], z[32];
  return lmi_text_append(ctx, text,
                         "<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">%s %s %s"
                         "</DataItem>\n",
                         lmi_format_double(value.z, z), lmi_format_double(value.y, y), lmi_format_double(value.x, x));
}

static lamina_status append_array(lamina_context *ctx, lmi_text *text, const lmi_field_content *content,
                                  const lmi_field_array *array, const char *file_name)
{
  const lamina_int3 cells = content->frame.cells;
  LMI_TRY(lmi_text_append(ctx, text, "<Attribute Name=\""));
  LMI_TRY(lmi_xml_append(ctx, text, array->name));
  LMI_TRY(lmi_text_append(ctx, text,
                          "\" AttributeType=\"%s\" Center=\"Cell\">\n"
                          "<DataItem Dimensions=\"%" PRId64 " %" PRId64 " %" PRId64
                          "%s\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">",
                          array->components == 3 ? "Vector" : "Scalar", cells.z, cells.y, cells.x,
                          array->components == 3 ? " 3" : "", array->precision == LAMINA_F64 ? 8 : 4));
  char path[LMI_FIELD_PATH_BYTES];
  LMI_TRY(lmi_xml_append(ctx, text, file_name));
  LMI_TRY(lmi_text_append(ctx, text, ":"));
  LMI_TRY(lmi_xml_append(ctx, text, lmi_field_path(array->name, path)));
  return lmi_text_append(ctx, text, "</DataItem>\n</Attribute>\n");
}

lamina_status lmi_xdmf_add(lamina_context *ctx, lmi_text *text, const lmi_field_content *content, const char *file_name,
                           double time)
{
  const lamina_int3 cells = content->frame.cells;
  char number[32];
  LMI_TRY(lmi_text_append(ctx, text, "<Grid Name=\"box\" GridType=\"Uniform\">\n<Time Value=\"%s\"/>\n",
                          lmi_format_double(time, number)));
  LMI_TRY(lmi_text_append(ctx, text,
                          "<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%" PRId64 " %" PRId64 " %" PRId64
                          "\"/>\n<Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n",
                          cells.z + 1, cells.y + 1, cells.x + 1));
  LMI_TRY(append_triple(ctx, text, content->frame.origin));
  LMI_TRY(append_triple(ctx, text, content->frame.spacing));
  LMI_TRY(lmi_text_append(ctx, text, "</Geometry>\n"));
  for (size_t i = 0; i < content->array_count; i++)
    LMI_TRY(append_array(ctx, text, content, &content->arrays[i], file_name));
  return lmi_text_append(ctx, text, "</Grid>\n");
}
