/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of the public border. Included by every public header; nothing here is meant for users. */
#ifndef LAMINA_EXPORT_H
#define LAMINA_EXPORT_H

#if defined(__GNUC__)
#define LAMINA_API __attribute__((visibility("default")))
#define LAMINA_NODISCARD __attribute__((warn_unused_result))
#else
#define LAMINA_API
#define LAMINA_NODISCARD
#endif

#endif
