/* SPDX-License-Identifier: Apache-2.0 */
#include <lamina/version.h>

#define TEXT_OF(value) #value
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *lamina_version(void)
{
  return VERSION_TEXT(LAMINA_VERSION_MAJOR, LAMINA_VERSION_MINOR, LAMINA_VERSION_PATCH);
}
