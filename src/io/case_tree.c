/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "case_tree.h"

/* The state of one parse: where the next value goes. */
typedef struct builder {
  lmi_tree *tree;
  yaml_parser_t *parser;
  const char *source;
  bool has_lines;
  int depth;
  lmi_tree_node *open[LMI_TREE_MAX_DEPTH]; /* lists and maps not yet closed */
  lmi_tree_node *last[LMI_TREE_MAX_DEPTH]; /* their newest child */
  char *pending_key[LMI_TREE_MAX_DEPTH];   /* a map's key that waits for its value */
  lmi_tree_node *root;
} builder;

const char *lmi_tree_place(const lmi_tree_node *node, char *buffer, size_t capacity)
{
  if (node->line > 0)
    snprintf(buffer, capacity, "%s:%d", node->source, node->line);
  else
    snprintf(buffer, capacity, "%s", node->source);
  return buffer;
}

const char *lmi_tree_describe(const lmi_tree_node *node, char *buffer, size_t capacity)
{
  if (node->kind == LMI_TREE_LIST)
    snprintf(buffer, capacity, "a list");
  else if (node->kind == LMI_TREE_MAP)
    snprintf(buffer, capacity, "a map");
  else if (node->text[0] == '\0')
    snprintf(buffer, capacity, "nothing");
  else
    snprintf(buffer, capacity, "'%.40s%s'", node->text, strlen(node->text) > 40 ? "..." : "");
  return buffer;
}

const lmi_tree_node *lmi_tree_find(const lmi_tree_node *map, const char *key)
{
  if (map == NULL || map->kind != LMI_TREE_MAP)
    return NULL;
  const lmi_tree_node *child = map->first;
  while (child != NULL && strcmp(child->key, key) != 0)
    child = child->next;
  return child;
}

void lmi_tree_destroy(lmi_tree *tree)
{
  if (tree == NULL)
    return;
  lamina_context *ctx = tree->ctx;
  lmi_tree_node *node = tree->newest;
  while (node != NULL) {
    lmi_tree_node *older = node->older;
    lmi_free(ctx, node->key);
    lmi_free(ctx, node->text);
    lmi_free(ctx, node);
    node = older;
  }
  lmi_free(ctx, tree->source);
  lmi_free(ctx, tree);
}

static lamina_status new_node(lmi_tree *tree, lmi_tree_kind kind, const char *source, int line, lmi_tree_node **out)
{
  LMI_REQUIRE(tree->ctx, tree->node_count < LMI_TREE_MAX_NODES, LAMINA_ERROR_CASE,
              "%s:%d: more than %d values; a case file has a few dozen", source, line, LMI_TREE_MAX_NODES);
  lmi_tree_node *node = NULL;
  LMI_TRY(LMI_ALLOC(tree->ctx, 1, &node));
  node->kind = kind;
  node->source = source;
  node->line = line;
  node->older = tree->newest;
  tree->newest = node;
  tree->node_count++;
  *out = node;
  return LAMINA_OK;
}

static int line_of(const builder *b, const yaml_mark_t *mark)
{
  return b->has_lines ? (int)mark->line + 1 : 0;
}

static lamina_status fail_at(const builder *b, const yaml_mark_t *mark, const char *sentence)
{
  lamina_context *ctx = b->tree->ctx;
  if (b->has_lines)
    return lmi_fail(ctx, LAMINA_ERROR_CASE, "%s:%d: %s", b->source, line_of(b, mark), sentence);
  return lmi_fail(ctx, LAMINA_ERROR_CASE, "%s: %s", b->source, sentence);
}

/* Hangs `node` under the innermost open list or map; the first one becomes the root. */
static lamina_status attach(builder *b, lmi_tree_node *node)
{
  if (b->depth == 0) {
    b->root = node;
    return LAMINA_OK;
  }
  const int level = b->depth - 1;
  lmi_tree_node *parent = b->open[level];
  if (parent->kind == LMI_TREE_MAP) {
    node->key = b->pending_key[level];
    b->pending_key[level] = NULL;
  }
  if (b->last[level] == NULL)
    parent->first = node;
  else
    b->last[level]->next = node;
  b->last[level] = node;
  return LAMINA_OK;
}

static bool wants_key(const builder *b)
{
  return b->depth > 0 && b->open[b->depth - 1]->kind == LMI_TREE_MAP && b->pending_key[b->depth - 1] == NULL;
}

static lamina_status take_key(builder *b, const yaml_event_t *event)
{
  lamina_context *ctx = b->tree->ctx;
  const char *text = (const char *)event->data.scalar.value;
  const lmi_tree_node *earlier = lmi_tree_find(b->open[b->depth - 1], text);
  if (earlier != NULL) {
    char sentence[192];
    snprintf(sentence, sizeof sentence, "%.60s: given twice (first on line %d); keep one of the two", text,
             earlier->line);
    return fail_at(b, &event->start_mark, sentence);
  }
  if (text[0] == '\0')
    return fail_at(b, &event->start_mark, "a key is empty; write `key: value`");
  return lmi_string_copy(ctx, text, &b->pending_key[b->depth - 1]);
}

static lamina_status take_scalar(builder *b, const yaml_event_t *event)
{
  if (event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL)
    return fail_at(b, &event->start_mark,
                   "anchors (&) and tags (!) are not used in case files; write the value itself");
  if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
    return fail_at(b, &event->start_mark, "a value holds a zero byte; case files are plain text");
  if (wants_key(b))
    return take_key(b, event);
  lmi_tree_node *node = NULL;
  LMI_TRY(new_node(b->tree, LMI_TREE_SCALAR, b->source, line_of(b, &event->start_mark), &node));
  LMI_TRY(
    lmi_string_copy_n(b->tree->ctx, (const char *)event->data.scalar.value, event->data.scalar.length, &node->text));
  return attach(b, node);
}

static lamina_status open_node(builder *b, const yaml_event_t *event, lmi_tree_kind kind)
{
  const bool is_list = kind == LMI_TREE_LIST;
  const yaml_char_t *anchor = is_list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor;
  const yaml_char_t *tag = is_list ? event->data.sequence_start.tag : event->data.mapping_start.tag;
  if (anchor != NULL || tag != NULL)
    return fail_at(b, &event->start_mark,
                   "anchors (&) and tags (!) are not used in case files; write the value itself");
  if (wants_key(b))
    return fail_at(b, &event->start_mark, "a list or map stands where a key belongs; write `key: value`");
  if (b->depth == LMI_TREE_MAX_DEPTH)
    return fail_at(b, &event->start_mark, "nested too deeply; a case file needs at most five levels");
  lmi_tree_node *node = NULL;
  LMI_TRY(new_node(b->tree, kind, b->source, line_of(b, &event->start_mark), &node));
  LMI_TRY(attach(b, node));
  b->open[b->depth] = node;
  b->last[b->depth] = NULL;
  b->pending_key[b->depth] = NULL;
  b->depth++;
  return LAMINA_OK;
}

static lamina_status fail_parser(const builder *b)
{
  const yaml_parser_t *parser = b->parser;
  if (parser->error == YAML_MEMORY_ERROR)
    return lmi_fail(b->tree->ctx, LAMINA_ERROR_MEMORY, "%s: out of memory while reading", b->source);
  char sentence[256];
  const char *problem = parser->problem != NULL ? parser->problem : "unreadable";
  if (parser->error == YAML_READER_ERROR) {
    snprintf(sentence, sizeof sentence, "not plain text (%s at byte %zu); a case file is YAML in UTF-8", problem,
             parser->problem_offset);
    return lmi_fail(b->tree->ctx, LAMINA_ERROR_CASE, "%s: %s", b->source, sentence);
  }
  const bool opened = parser->context != NULL && parser->context_mark.line != parser->problem_mark.line;
  if (opened && b->has_lines)
    snprintf(sentence, sizeof sentence,
             "not valid YAML: %s (in what begins on line %zu); check indentation, colons and brackets", problem,
             parser->context_mark.line + 1);
  else
    snprintf(sentence, sizeof sentence, "not valid YAML: %s; check indentation, colons and brackets", problem);
  return fail_at(b, &parser->problem_mark, sentence);
}

/* Handles one event; *done at the end of the stream. */
static lamina_status take_event(builder *b, const yaml_event_t *event, bool *done)
{
  switch (event->type) {
  case YAML_SCALAR_EVENT: return take_scalar(b, event);
  case YAML_SEQUENCE_START_EVENT: return open_node(b, event, LMI_TREE_LIST);
  case YAML_MAPPING_START_EVENT: return open_node(b, event, LMI_TREE_MAP);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT: b->depth--; return LAMINA_OK;
  case YAML_ALIAS_EVENT:
    return fail_at(b, &event->start_mark, "aliases (*) are not used in case files; write the value itself");
  case YAML_DOCUMENT_START_EVENT:
    return b->root == NULL ? LAMINA_OK
                           : fail_at(b, &event->start_mark, "a second document begins here (---); one case a file");
  case YAML_STREAM_END_EVENT: *done = true; return LAMINA_OK;
  default: return LAMINA_OK;
  }
}

static lamina_status build(builder *b)
{
  bool done = false;
  lamina_status status = LAMINA_OK;
  while (!done && status == LAMINA_OK) {
    yaml_event_t event;
    if (yaml_parser_parse(b->parser, &event) == 0)
      status = fail_parser(b);
    else {
      status = take_event(b, &event, &done);
      yaml_event_delete(&event);
    }
  }
  for (int level = 0; level < b->depth; level++)
    lmi_free(b->tree->ctx, b->pending_key[level]);
  return status;
}

/* Parses one text into nodes owned by `tree`; *root is NULL for an empty text. */
static lamina_status parse_into(lmi_tree *tree, const char *source, bool has_lines, const char *text, size_t length,
                                lmi_tree_node **root)
{
  yaml_parser_t parser;
  LMI_REQUIRE(tree->ctx, yaml_parser_initialize(&parser) != 0, LAMINA_ERROR_MEMORY, "%s: out of memory while reading",
              source);
  const size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* some editors begin so */
  yaml_parser_set_input_string(&parser, (const unsigned char *)text + mark, length - mark);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  builder b = {.tree = tree, .parser = &parser, .source = source, .has_lines = has_lines};
  const lamina_status status = build(&b);
  yaml_parser_delete(&parser);
  *root = b.root;
  return status;
}

lamina_status lmi_tree_parse(lamina_context *ctx, const char *source, const char *text, size_t length, lmi_tree **out)
{
  *out = NULL;
  lamina_status status = LAMINA_OK;
  lmi_tree *tree = NULL;
  LMI_TRY(LMI_ALLOC(ctx, 1, &tree));
  tree->ctx = ctx;
  LMI_TRY_GOTO(status, lmi_string_copy(ctx, source, &tree->source), cleanup);
  LMI_TRY_GOTO(status, parse_into(tree, tree->source, true, text, length, &tree->root), cleanup);
  if (tree->root == NULL) {
    status = lmi_fail(
      ctx, LAMINA_ERROR_CASE,
      "%s: empty; a case file needs at least domain, fluid, boundaries and run (see docs/user/case-file.md)", source);
    goto cleanup;
  }
  if (tree->root->kind != LMI_TREE_MAP) {
    char what[64];
    status = lmi_fail(ctx, LAMINA_ERROR_CASE, "%s:%d: the file is %s, not a map of keys; begin with `domain:`", source,
                      tree->root->line, lmi_tree_describe(tree->root, what, sizeof what));
    goto cleanup;
  }
  *out = tree;
  return LAMINA_OK;

cleanup:
  lmi_tree_destroy(tree);
  return status;
}

/* ---- overrides ---- */

static lmi_tree_node *entry_at(const lmi_tree_node *list, const char *word)
{
  int64_t index = 0;
  if (!lmi_parse_int64(word, &index) || index < 0)
    return NULL;
  lmi_tree_node *child = list->first;
  while (child != NULL && index-- > 0)
    child = child->next;
  return child;
}

/* Who said so: the option of the program that stands for --set with that key, or --set itself. */
static const char *override_source(const char *assignment)
{
  static const char *const OPTIONS[] = {"--backend",   "--devices", "--layout",
                                        "--streaming", "--threads", "--partitions"};
  for (size_t i = 0; i < LMI_COUNT(OPTIONS); i++) {
    const size_t length = strlen(OPTIONS[i]);
    if (strncmp(assignment, OPTIONS[i], length) == 0 && assignment[length] == '=')
      return OPTIONS[i];
  }
  return "--set";
}

static lamina_status append_key(lmi_tree *tree, lmi_tree_node *map, const char *key, lmi_tree_node **child)
{
  LMI_TRY(new_node(tree, LMI_TREE_MAP, "--set", 0, child));
  LMI_TRY(lmi_string_copy(tree->ctx, key, &(*child)->key));
  lmi_tree_node **slot = &map->first;
  while (*slot != NULL)
    slot = &(*slot)->next;
  *slot = *child;
  return LAMINA_OK;
}

/* One step down the path, making the key where it is missing. A scalar on the way becomes a map ("initial: rest" and
 * --set initial.kind=uniform). */
static lamina_status descend(lmi_tree *tree, lmi_tree_node *at, const char *word, lmi_tree_node **child)
{
  if (at->kind == LMI_TREE_LIST) {
    *child = entry_at(at, word);
    LMI_REQUIRE(tree->ctx, *child != NULL, LAMINA_ERROR_CASE,
                "--set: '%s' is no entry of the list %s; entries count from 0", word, at->key != NULL ? at->key : "");
    return LAMINA_OK;
  }
  if (at->kind == LMI_TREE_SCALAR) {
    at->kind = LMI_TREE_MAP;
    at->first = NULL;
  }
  lmi_tree_node *found = at->first;
  while (found != NULL && strcmp(found->key, word) != 0)
    found = found->next;
  *child = found;
  return found != NULL ? LAMINA_OK : append_key(tree, at, word, child);
}

static void replace(lmi_tree_node *node, lmi_tree_node *value)
{
  node->kind = value->kind;
  node->first = value->first;
  node->source = value->source;
  node->line = 0;
  char *old = node->text;
  node->text = value->text;
  value->text = old; /* released with the tree */
}

static void unlink_child(lmi_tree_node *parent, const lmi_tree_node *child)
{
  lmi_tree_node **slot = &parent->first;
  while (*slot != child)
    slot = &(*slot)->next;
  *slot = child->next;
}

static lamina_status override_value(lmi_tree *tree, const char *source, const char *path, const char *value_text,
                                    lmi_tree_node **value)
{
  LMI_TRY(parse_into(tree, source, false, value_text, strlen(value_text), value));
  LMI_REQUIRE(tree->ctx, *value != NULL, LAMINA_ERROR_CASE, "%s: %s: no value; write KEY=VALUE", source, path);
  return LAMINA_OK;
}

lamina_status lmi_tree_override(lmi_tree *tree, const char *assignment)
{
  lamina_context *ctx = tree->ctx;
  const char *source = override_source(assignment);
  if (strcmp(source, "--set") != 0)
    assignment += 2; /* the key is the option without its dashes */
  const char *equals = strchr(assignment, '=');
  LMI_REQUIRE(ctx, equals != NULL && equals != assignment, LAMINA_ERROR_CASE,
              "--set: '%s' is not KEY=VALUE; for example --set fluid.reynolds=400", assignment);
  char path[256];
  const size_t length = (size_t)(equals - assignment);
  LMI_REQUIRE(ctx, length < sizeof path, LAMINA_ERROR_CASE, "--set: the key is %zu characters long; at most %zu",
              length, sizeof path - 1);
  memcpy(path, assignment, length);
  path[length] = '\0';

  lmi_tree_node *value = NULL;
  LMI_TRY(override_value(tree, source, path, equals + 1, &value));
  const bool removes = value->kind == LMI_TREE_SCALAR && strcmp(value->text, "null") == 0;
  lmi_tree_node *at = tree->root;
  lmi_tree_node *parent = NULL;
  for (char *word = path; word != NULL;) {
    char *dot = strchr(word, '.');
    if (dot != NULL)
      *dot = '\0';
    LMI_REQUIRE(ctx, word[0] != '\0', LAMINA_ERROR_CASE, "--set: '%s' has an empty key", assignment);
    parent = at;
    LMI_TRY(descend(tree, at, word, &at));
    word = dot != NULL ? dot + 1 : NULL;
  }
  if (removes)
    unlink_child(parent, at);
  else
    replace(at, value);
  return LAMINA_OK;
}
