/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML text as a tree that remembers where each value stands. libyaml does the parsing; this keeps its marks, refuses
 * what a case file never needs (anchors, aliases, tags, several documents, duplicate keys, deep nesting) and applies
 * overrides of the form key.path=value. */
#ifndef LMI_CASE_TREE_H
#define LMI_CASE_TREE_H

#include "base/base.h"

typedef enum lmi_tree_kind { LMI_TREE_SCALAR, LMI_TREE_LIST, LMI_TREE_MAP } lmi_tree_kind;

typedef struct lmi_tree_node {
  lmi_tree_kind kind;
  const char *source;          /* file name, or "--set"; kept by the tree */
  int line;                    /* 1-based; 0 in an override */
  char *key;                   /* in a map; NULL in a list and at the root */
  char *text;                  /* of a scalar, never NULL there */
  struct lmi_tree_node *first; /* of a list or map, in file order */
  struct lmi_tree_node *next;
  struct lmi_tree_node *older; /* chain of all nodes, for release */
} lmi_tree_node;

typedef struct lmi_tree {
  lamina_context *ctx;
  char *source;
  lmi_tree_node *root; /* a map */
  lmi_tree_node *newest;
  size_t node_count;
} lmi_tree;

enum { LMI_TREE_MAX_DEPTH = 12, LMI_TREE_MAX_NODES = 20000 };

/* Parses `length` bytes; `source` names them in messages. Errors: CASE (with line), MEMORY. On failure *tree is NULL.
 */
LAMINA_NODISCARD lamina_status lmi_tree_parse(lamina_context *ctx, const char *source, const char *text, size_t length,
                                              lmi_tree **tree);
void lmi_tree_destroy(lmi_tree *tree);

/* Applies "key.path=value"; list entries are addressed by number ("output.0.every=1 s"). The value is YAML ("[1, 2]" is
 * a list); "null" takes the key away. "--threads=2" and the like name their option in messages. Maps on the way are
 * made where missing. */
LAMINA_NODISCARD lamina_status lmi_tree_override(lmi_tree *tree, const char *assignment);

/* The value of `key` in a map, or NULL. */
const lmi_tree_node *lmi_tree_find(const lmi_tree_node *map, const char *key);

/* "cavity.yaml:12" or "--set"; returns buffer. */
const char *lmi_tree_place(const lmi_tree_node *node, char *buffer, size_t capacity);

/* What a node is, for messages: "a list", "a map", or the text in quotes, shortened. */
const char *lmi_tree_describe(const lmi_tree_node *node, char *buffer, size_t capacity);

#endif
