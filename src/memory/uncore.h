/* SPDX-License-Identifier: Apache-2.0 */
/* Counters outside the cores, as /sys/bus/event_source shows them: memory channels, links between sockets, and the home
 * agents that tell local from remote reads. They count for the whole machine, whoever caused the traffic, and opening
 * them needs more rights than one's own program does. */
#ifndef LMI_UNCORE_H
#define LMI_UNCORE_H

#include "base/base.h"

/* X(enumerator, name, bytes an event; a link's flit carries 64 bytes in 9) */
#define LMI_UNCORE_LIST(X)                                         \
  X(LMI_UNCORE_READ, "read from memory", 64.0)                     \
  X(LMI_UNCORE_WRITE, "written to memory", 64.0)                   \
  X(LMI_UNCORE_LINK_OUT, "sent to other sockets", 64.0 / 9.0)      \
  X(LMI_UNCORE_LINK_IN, "received from other sockets", 64.0 / 9.0) \
  X(LMI_UNCORE_LOCAL, "read from local memory", 64.0)              \
  X(LMI_UNCORE_REMOTE, "read from remote memory", 64.0)

typedef enum lmi_uncore_meaning {
#define LMI_UNCORE_ENUM(name, text, bytes) name,
  LMI_UNCORE_LIST(LMI_UNCORE_ENUM)
#undef LMI_UNCORE_ENUM
    LMI_UNCORE_COUNT
} lmi_uncore_meaning;

const char *lmi_uncore_name(lmi_uncore_meaning meaning);

/* One event of one unit (a channel, a link) on one socket. */
typedef struct lmi_uncore_event {
  char unit[48]; /* uncore_imc_3 */
  lmi_uncore_meaning meaning;
  uint32_t type;
  int processor; /* that its unit is asked through */
  uint64_t config, config1;
  bool is_closed; /* it could not be opened */
} lmi_uncore_event;

typedef struct lmi_uncore_list {
  lmi_uncore_event *events;
  size_t count;
} lmi_uncore_list;

/* All that the machine below `root` shows and the table knows; an empty list is no error. */
LAMINA_NODISCARD lamina_status lmi_uncore_find(lamina_context *ctx, const char *root, lmi_uncore_list *list);
void lmi_uncore_list_free(lamina_context *ctx, lmi_uncore_list *list);

/* Puts `value` into the bits that a format file names ("config:8-15,32-55"); false when it is no such text. */
bool lmi_uncore_place(const char *format, uint64_t value, uint64_t configs[2]);

/* Bytes by meaning, NAN where no unit counted. `values[i]` belongs to events[i]. What no channel can carry (a
 * channel that is not there counts nonsense) is left out, and `remark` says how many. */
typedef struct lmi_uncore_sum {
  double bytes[LMI_UNCORE_COUNT];
  size_t units, dropped;
  char remark[192];
} lmi_uncore_sum;
void lmi_uncore_add_up(const lmi_uncore_list *list, const uint64_t *values, double seconds, lmi_uncore_sum *sum);

/* Counting on this machine. Errors: UNAVAILABLE with the reason (no such units, not permitted), MEMORY. */
typedef struct lmi_uncore lmi_uncore;
LAMINA_NODISCARD lamina_status lmi_uncore_open(lamina_context *ctx, lmi_uncore **uncore);
void lmi_uncore_read(lmi_uncore *uncore, lmi_uncore_sum *sum); /* since the opening */
void lmi_uncore_close(lmi_uncore *uncore);                     /* NULL does nothing */

#endif
