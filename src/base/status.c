/* SPDX-License-Identifier: Apache-2.0 */
#include <lamina/status.h>

const char *lamina_status_text(lamina_status status)
{
  switch (status) {
#define STATUS_TEXT(name, value, exit_code, text) \
  case name: return text;
    LAMINA_STATUS_LIST(STATUS_TEXT)
  }
  return "unknown status";
}

int lamina_status_exit_code(lamina_status status)
{
  switch (status) {
#define STATUS_EXIT(name, value, exit_code, text) \
  case name: return exit_code;
    LAMINA_STATUS_LIST(STATUS_EXIT)
  }
  return 1;
}
