/* SPDX-License-Identifier: Apache-2.0 */
/* Planes as PNG. */
#include <math.h>
#include <string.h>

#include "io/field_slice.h"
#include "render.h"

/* A plane as the user gave it, or the middle of z. */
typedef struct plane {
  int axis;
  double position;
  const char *given; /* "z=0.5", NULL: not given */
} plane;

static lamina_status parse_range(const lmi_render *render, lmi_image_options *options)
{
  const char *text = render->values->range;
  if (text == NULL)
    return LAMINA_OK;
  const char *colon = strchr(text, ':');
  char low[64] = "";
  if (colon != NULL)
    snprintf(low, sizeof low, "%.*s", (int)(colon - text), text);
  const bool is_read =
    colon != NULL && lmi_parse_double(low, &options->low) && lmi_parse_double(colon + 1, &options->high);
  if (!is_read || !(options->low < options->high))
    return lmi_fail(render->ctx, LAMINA_ERROR_ARGUMENT, "--range %s: two numbers LOW:HIGH with LOW < HIGH are needed",
                    text);
  options->has_range = true;
  return LAMINA_OK;
}

/* Speeds and densities go one way from their least value; the rest has a middle. */
static bool is_signed(const lmi_field_quantity *quantity)
{
  return quantity->kind != LMI_QUANTITY_MAGNITUDE && strcmp(quantity->name, "density") != 0;
}

static lamina_status make_title(const lmi_render *render, const lmi_field_quantity *quantity, const plane *p,
                                lmi_text *title)
{
  const lmi_field_frame *frame = &lmi_field_file_content(render->file)->frame;
  const char *what = lmi_field_file_attribute(render->file, "title");
  char number[32];
  if (what != NULL && what[0] != '\0')
    LMI_TRY(lmi_text_append(render->ctx, title, "%s: ", what));
  LMI_TRY(lmi_text_append(render->ctx, title, "%s", quantity->name));
  if (!lmi_render_is_flat(render))
    LMI_TRY(
      lmi_text_append(render->ctx, title, " at %c = %s m", "xyz"[p->axis], lmi_format_double(p->position, number)));
  return lmi_text_append(render->ctx, title, ", t = %.6g s", frame->time);
}

static lamina_status note_picture(const lmi_render *render, const char *file, const lmi_field_quantity *quantity,
                                  const plane *p, lmi_image_range range)
{
  json_t *entry = json_pack("{s:s, s:s, s:s, s:{s:s#, s:f}, s:f, s:f, s:o, s:o}", "file", file, "field", quantity->name,
                            "unit", quantity->unit, "slice", "axis", &"xyz"[p->axis], (size_t)1, "position_m",
                            p->position, "low", range.low, "high", range.high, "data_low",
                            lmi_json_number(range.data_low), "data_high", lmi_json_number(range.data_high));
  LMI_REQUIRE(render->ctx, json_array_append_new(render->pictures, entry) == 0, LAMINA_ERROR_MEMORY,
              "no memory for the summary");
  return LAMINA_OK;
}

static lamina_status draw(lmi_render *render, const lmi_field_quantity *quantity, const plane *p,
                          lmi_field_slice *slice, const char *path)
{
  lmi_image_options options = lmi_image_options_default();
  LMI_TRY(parse_range(render, &options));
  lmi_text title = {0};
  lmi_image_range range = {0};
  lamina_status status = make_title(render, quantity, p, &title);
  if (status == LAMINA_OK && render->values->streamlines)
    status = lmi_field_slice_add_stream(slice, render->file);
  if (status == LAMINA_OK) {
    options.title = title.data;
    options.unit = quantity->unit[0] != '\0' ? quantity->unit : NULL;
    options.map = is_signed(quantity) ? LMI_COLOUR_DIVERGING : LMI_COLOUR_SEQUENTIAL;
    options.pixels = (int)render->values->pixels;
    options.contour = slice->stream;
    const lmi_image_data data = {slice->width, slice->height, slice->values};
    status = lmi_image_write(render->ctx, path, &data, &options, &range);
  }
  lmi_text_free(render->ctx, &title);
  LMI_TRY(status);
  if (!render->values->json)
    printf("%s: %s from %g to %g %s\n", path, quantity->name, range.data_low, range.data_high, quantity->unit);
  return note_picture(render, path, quantity, p, range);
}

static lamina_status name_picture(const lmi_render *render, const lmi_field_quantity *quantity, const plane *p,
                                  lmi_text *path)
{
  LMI_TRY(lmi_render_name(render, quantity->name, path));
  if (p->given != NULL)
    LMI_TRY(lmi_text_append(render->ctx, path, "-%c%s", p->given[0], p->given + 2));
  return lmi_text_append(render->ctx, path, ".png");
}

/* The centre of the layer of cells next to the plane. */
static double nearest_centre(const lmi_field_frame *frame, const plane *p)
{
  const double origins[3] = {frame->origin.x, frame->origin.y, frame->origin.z};
  const double spacings[3] = {frame->spacing.x, frame->spacing.y, frame->spacing.z};
  const lamina_index counts[3] = {frame->cells.x, frame->cells.y, frame->cells.z};
  const double layer = rint((p->position - origins[p->axis]) / spacings[p->axis] - 0.5);
  const double inside = fmin(fmax(layer, 0.0), (double)(counts[p->axis] - 1));
  return origins[p->axis] + (inside + 0.5) * spacings[p->axis];
}

/* Where the file says which cells are solid, those have no value and show grey. */
static lamina_status grey_solids(const lmi_render *render, const lmi_field_quantity *quantity, const plane *p,
                                 lmi_field_slice *slice)
{
  const lmi_field_content *content = lmi_field_file_content(render->file);
  const lmi_field_quantity body = {.name = "body", .unit = "", .array = lmi_field_file_find(render->file, "body")};
  if (body.array == content->array_count || (body.array == quantity->array && quantity->kind == LMI_QUANTITY_SCALAR))
    return LAMINA_OK;
  lmi_field_slice solid = {0};
  LMI_TRY(lmi_field_slice_take(render->ctx, render->file, &body, p->axis, nearest_centre(&content->frame, p), &solid));
  for (lamina_index i = 0; i < solid.width * solid.height; i++)
    if (solid.values[i] != 0)
      slice->values[i] = (double)NAN;
  lmi_field_slice_free(&solid);
  return LAMINA_OK;
}

static lamina_status render_picture(lmi_render *render, const lmi_field_quantity *quantity, const plane *p)
{
  lmi_text path = {0};
  lmi_field_slice slice = {0};
  lamina_status status = name_picture(render, quantity, p, &path);
  if (status == LAMINA_OK)
    status = lmi_field_slice_take(render->ctx, render->file, quantity, p->axis, p->position, &slice);
  if (status == LAMINA_OK)
    status = grey_solids(render, quantity, p, &slice);
  if (status == LAMINA_OK)
    status = draw(render, quantity, p, &slice, path.data);
  lmi_field_slice_free(&slice);
  lmi_text_free(render->ctx, &path);
  return status;
}

static lamina_status render_field(lmi_render *render, const char *name)
{
  lmi_field_quantity quantity;
  LMI_TRY(lmi_field_quantity_find(render->ctx, render->file, name, &quantity));
  const lmi_field_frame *frame = &lmi_field_file_content(render->file)->frame;
  if (render->values->slices.count == 0) {
    const plane middle = {2, frame->origin.z + 0.5 * (double)frame->cells.z * frame->spacing.z, NULL};
    return render_picture(render, &quantity, &middle);
  }
  for (size_t i = 0; i < render->values->slices.count; i++) {
    plane p = {.given = render->values->slices.words[i]};
    LMI_TRY(lmi_render_parse_place(render->call, "slice", p.given, &p.axis, &p.position));
    LMI_TRY(render_picture(render, &quantity, &p));
  }
  return LAMINA_OK;
}

lamina_status lmi_render_pictures(lmi_render *render)
{
  const lmi_word_list *fields = &render->values->fields;
  if (fields->count == 0)
    return render_field(render, "speed");
  for (size_t i = 0; i < fields->count; i++)
    LMI_TRY(render_field(render, fields->words[i]));
  return LAMINA_OK;
}
