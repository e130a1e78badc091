/* SPDX-License-Identifier: Apache-2.0 */
/* Lines through the fields, alone or beside published data. */
#include <math.h>
#include <string.h>

#include "io/field_slice.h"
#include "io/profile.h"
#include "render.h"

/* What the callback of lmi_profile_take reads from. */
typedef struct line_source {
  const lmi_render *render;
  const lmi_field_quantity *quantity;
} line_source;

static lamina_status read_cells(void *user, lamina_box box, double *values)
{
  const line_source *source = user;
  return lmi_field_quantity_read(source->render->ctx, source->render->file, source->quantity, box, values);
}

static double along(lamina_real3 value, int axis)
{
  return axis == 0 ? value.x : axis == 1 ? value.y : value.z;
}

static void set_along(lamina_real3 *value, int axis, double to)
{
  *(axis == 0 ? &value->x : axis == 1 ? &value->y : &value->z) = to;
}

/* The whole box as a line along `axis`, in the middle of it until the caller says where. */
static lmi_profile_line line_along(const lmi_render *render, int axis)
{
  const lmi_field_frame *frame = &lmi_field_file_content(render->file)->frame;
  const lamina_real3 middle = {frame->origin.x + 0.5 * (double)frame->cells.x * frame->spacing.x,
                               frame->origin.y + 0.5 * (double)frame->cells.y * frame->spacing.y,
                               frame->origin.z + 0.5 * (double)frame->cells.z * frame->spacing.z};
  return (lmi_profile_line){
    .cells = frame->cells, .origin = frame->origin, .spacing = frame->spacing, .axis = axis, .through = middle};
}

static double line_length(const lmi_profile_line *line)
{
  const lamina_real3 cells = {(double)line->cells.x, (double)line->cells.y, (double)line->cells.z};
  return along(cells, line->axis) * along(line->spacing, line->axis);
}

/* A unit as part of a column name: "m/s" becomes "m_per_s". */
static lamina_status append_unit(lamina_context *ctx, lmi_text *text, const char *unit)
{
  for (; *unit != '\0'; unit++) {
    if (*unit == '/')
      LMI_TRY(lmi_text_append(ctx, text, "_per_"));
    else if (*unit == '-' || *unit == ' ' || *unit == ',')
      LMI_TRY(lmi_text_append(ctx, text, "_"));
    else
      LMI_TRY(lmi_text_append(ctx, text, "%c", *unit >= 'A' && *unit <= 'Z' ? *unit - 'A' + 'a' : *unit));
  }
  return LAMINA_OK;
}

/* Everything that is written about one line. */
typedef struct line_output {
  const lmi_field_quantity *quantity;
  const lmi_profile *profile;
  const lmi_reference *reference; /* or NULL */
  lmi_profile_scale scale;
  int axis;
  const char *base;
} line_output;

static lamina_status write_files(const lmi_render *render, const line_output *output, bool *has_picture)
{
  const lmi_field_file *file = render->file;
  const char *title = lmi_field_file_attribute(file, "title");
  lmi_text texts[3] = {{0}}; // title, value, value column
  char position[] = "x (m)", column[] = "x_m";
  position[0] = column[0] = "xyz"[output->axis];
  lamina_status status = lmi_text_append(render->ctx, &texts[0], "%s%st = %.6g s", title != NULL ? title : "",
                                         title != NULL ? ", " : "", lmi_field_file_content(file)->frame.time);
  if (status == LAMINA_OK)
    status = lmi_text_append(render->ctx, &texts[1], "%s (%s)", output->quantity->name, output->quantity->unit);
  if (status == LAMINA_OK)
    status = lmi_text_append(render->ctx, &texts[2], "%s_", output->quantity->name);
  if (status == LAMINA_OK)
    status = append_unit(render->ctx, &texts[2], output->quantity->unit);
  if (status == LAMINA_OK) {
    const lmi_profile_labels labels = {texts[0].data, position, texts[1].data, column, texts[2].data};
    status = lmi_profile_write(output->profile, output->base, &labels, output->reference, output->scale, has_picture);
  }
  for (size_t i = 0; i < LMI_COUNT(texts); i++)
    lmi_text_free(render->ctx, &texts[i]);
  return status;
}

static lamina_status note(const lmi_render *render, json_t *list, json_t *entry)
{
  LMI_REQUIRE(render->ctx, json_array_append_new(list, entry) == 0, LAMINA_ERROR_MEMORY, "no memory for the summary");
  return LAMINA_OK;
}

/* ---- --profile ---- */

/* "x=0.5,z=0.5" fixes all axes but one; in two dimensions z needs no word. */
static lamina_status parse_line(const lmi_render *render, const char *text, lmi_profile_line *line)
{
  bool is_fixed[3] = {false, false, lmi_render_is_flat(render)};
  *line = line_along(render, 0);
  const char *at = text;
  while (at != NULL) {
    char word[64] = "";
    const char *comma = strchr(at, ',');
    const size_t length = comma != NULL ? (size_t)(comma - at) : strlen(at);
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), at);
    int axis = 0;
    double position = 0.0;
    LMI_TRY(lmi_render_parse_place(render->call, "profile", word, &axis, &position));
    set_along(&line->through, axis, position);
    is_fixed[axis] = true;
    at = comma != NULL ? comma + 1 : NULL;
  }
  if (is_fixed[0] + is_fixed[1] + is_fixed[2] != 2)
    return lmi_fail(render->ctx, LAMINA_ERROR_ARGUMENT,
                    "--profile %s: fix all axes but one, as in x=0.5,z=0.5 for a line along y", text);
  line->axis = !is_fixed[0] ? 0 : !is_fixed[1] ? 1 : 2;
  return LAMINA_OK;
}

/* "velocity_x-x0.5-z0.5" */
static lamina_status name_line(const lmi_render *render, const char *field, const char *text, lmi_text *base)
{
  LMI_TRY(lmi_render_name(render, field, base));
  LMI_TRY(lmi_text_append(render->ctx, base, "-"));
  for (; *text != '\0'; text++)
    if (*text != '=')
      LMI_TRY(lmi_text_append(render->ctx, base, "%c", *text == ',' ? '-' : *text));
  return LAMINA_OK;
}

static lamina_status write_line(lmi_render *render, const lmi_field_quantity *quantity, const lmi_profile_line *line,
                                const char *base)
{
  line_source source = {render, quantity};
  lmi_profile profile = {0};
  bool has_picture = false;
  LMI_TRY(lmi_profile_take(render->ctx, line, read_cells, &source, &profile));
  const line_output output = {.quantity = quantity, .profile = &profile, .axis = line->axis, .base = base};
  const lamina_status status = write_files(render, &output, &has_picture);
  lmi_profile_free(&profile);
  LMI_TRY(status);
  if (!render->values->json)
    printf("%s.csv%s\n", base, has_picture ? " and .png" : "");
  return note(render, render->profiles,
              json_pack("{s:s, s:s, s:b}", "base", base, "field", quantity->name, "has_picture", has_picture));
}

static lamina_status render_profile(lmi_render *render, const char *field, const char *text)
{
  lmi_field_quantity quantity;
  lmi_profile_line line;
  LMI_TRY(lmi_field_quantity_find(render->ctx, render->file, field, &quantity));
  LMI_TRY(parse_line(render, text, &line));
  lmi_text base = {0};
  lamina_status status = name_line(render, field, text, &base);
  if (status == LAMINA_OK)
    status = write_line(render, &quantity, &line, base.data);
  lmi_text_free(render->ctx, &base);
  return status;
}

lamina_status lmi_render_profiles(lmi_render *render)
{
  const lmi_word_list *fields = &render->values->fields, *profiles = &render->values->profiles;
  for (size_t i = 0; i < profiles->count; i++)
    for (size_t k = 0; k < (fields->count > 0 ? fields->count : 1); k++)
      LMI_TRY(render_profile(render, fields->count > 0 ? fields->words[k] : "speed", profiles->words[i]));
  return LAMINA_OK;
}

/* ---- --compare ---- */

/* What the user says, else what the file says, else `instead`. */
static double reference_number(const lmi_render *render, double given, const char *attribute, double instead)
{
  const char *text = lmi_field_file_attribute(render->file, attribute);
  double value = 0.0;
  if (given > 0.0)
    return given;
  return text != NULL && lmi_parse_double(text, &value) && value > 0.0 ? value : instead;
}

static lamina_status find_reference(const lmi_render *render, const char *name, const lmi_reference **reference)
{
  size_t count = 0;
  const char *const *names = lmi_reference_names(&count);
  *reference = lmi_reference_find(name);
  if (*reference == NULL) {
    const char *nearest = lmi_nearest_word(name, names, count);
    return lmi_fail(render->ctx, LAMINA_ERROR_ARGUMENT, "--compare %s: there is no such data; %s %s", name,
                    nearest != NULL ? "did you mean" : "the first of them is", nearest != NULL ? nearest : names[0]);
  }
  const bool is_flat = lmi_render_is_flat(render);
  LMI_REQUIRE(render->ctx, ((*reference)->dimension == 2) == is_flat, LAMINA_ERROR_ARGUMENT,
              "%s belongs to a flow in %d dimensions, and %s has %d", name, (*reference)->dimension, render->path,
              is_flat ? 2 : 3);
  return LAMINA_OK;
}

/* The line of the reference in this file. The walls move as the reference's own ends do. */
static lmi_profile_line reference_line(const lmi_render *render, const lmi_reference *reference,
                                       lmi_profile_scale scale)
{
  lmi_profile_line line = line_along(render, reference->axis);
  for (int axis = 0; axis < reference->dimension; axis++)
    if (axis != reference->axis)
      set_along(&line.through, axis, along(line.origin, axis) + reference->through[axis] * scale.length);
  line.has_low_wall = line.has_high_wall = fabs(line_length(&line) - scale.length) < 1e-9 * scale.length;
  line.low_wall = reference->points[0].value * scale.value;
  line.high_wall = reference->points[reference->point_count - 1].value * scale.value;
  return line;
}

static lamina_status report_comparison(lmi_render *render, const lmi_comparison *c, const char *base)
{
  render->is_off = render->is_off || !c->passed;
  if (!render->values->json) {
    printf("%s: off by at most %.5f of the reference speed, rms %.5f, gate %g", c->reference->name, c->max_error,
           c->rms_error, c->gate);
    if (c->reference->extremum_count > 0)
      printf("; extrema off by %.2f %%, gate %g %%", 100.0 * c->max_extremum_error,
             100.0 * c->reference->extremum_gate);
    printf(": %s (%s.csv)\n", c->passed ? "passed" : "failed", base);
  }
  return note(render, render->references,
              json_pack("{s:s, s:o, s:o, s:o, s:f, s:b, s:s}", "name", c->reference->name, "max_error",
                        lmi_json_number(c->max_error), "rms_error", lmi_json_number(c->rms_error), "max_extremum_error",
                        lmi_json_number(c->max_extremum_error), "gate", c->gate, "passed", c->passed, "base", base));
}

static lamina_status compare(lmi_render *render, const lmi_field_quantity *quantity, const lmi_reference *reference,
                             const char *base)
{
  const lmi_profile_line whole = line_along(render, reference->axis);
  const lmi_profile_scale scale = {
    .origin = along(whole.origin, reference->axis),
    .length = reference_number(render, render->values->length, "reference_length_m", line_length(&whole)),
    .value = reference_number(render, render->values->speed, "reference_speed_m_per_s", 0.0)};
  if (scale.value <= 0.0)
    return lmi_fail(render->ctx, LAMINA_ERROR_ARGUMENT,
                    "--compare %s: %s does not say the reference speed; give it by --speed", reference->name,
                    render->path);
  const lmi_profile_line line = reference_line(render, reference, scale);
  line_source source = {render, quantity};
  lmi_profile profile = {0};
  LMI_TRY(lmi_profile_take(render->ctx, &line, read_cells, &source, &profile));
  const lmi_comparison result = lmi_profile_compare(&profile, reference, scale, render->values->gate);
  const line_output output = {quantity, &profile, reference, scale, reference->axis, base};
  const lamina_status status = write_files(render, &output, NULL);
  lmi_profile_free(&profile);
  LMI_TRY(status);
  return report_comparison(render, &result, base);
}

static lamina_status render_reference(lmi_render *render, const char *name)
{
  static const char *const components[] = {"velocity_x", "velocity_y", "velocity_z"};
  const lmi_reference *reference = NULL;
  lmi_field_quantity quantity;
  LMI_TRY(find_reference(render, name, &reference));
  LMI_TRY(lmi_field_quantity_find(render->ctx, render->file, components[reference->component], &quantity));
  lmi_text base = {0};
  lamina_status status = lmi_render_name(render, name, &base);
  if (status == LAMINA_OK)
    status = compare(render, &quantity, reference, base.data);
  lmi_text_free(render->ctx, &base);
  return status;
}

lamina_status lmi_render_references(lmi_render *render)
{
  for (size_t i = 0; i < render->values->references.count; i++)
    LMI_TRY(render_reference(render, render->values->references.words[i]));
  return LAMINA_OK;
}
