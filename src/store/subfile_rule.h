/* The description of a file that is kept in several files, and the names inside its directory.
 *
 *   data/                     the file, as users name it
 *     sago-subfiles           the description
 *     part.00000              the subfiles
 *     part.00001 ...
 *
 * While the rule is not made yet, there is no description, but the file sago-subfiles.default: the rule that holds
 * if the first write finds no better one.  That file stays when the rule is made.  Files sago-subfiles.new... are
 * descriptions that are being written.
 *
 * A description is a text, and the same rule always has the same text:
 *
 *   sago subfiles 1           the version
 *   count 8
 *   block 16777216
 *   checksum 0123456789abcdef */
#ifndef SAGOI_STORE_SUBFILES_H
#define SAGOI_STORE_SUBFILES_H

#include "base/status.h"
#include "base/subfiles.h"

#define SAGOI_SUBFILES_NAME "sago-subfiles"
#define SAGOI_SUBFILES_DEFAULT SAGOI_SUBFILES_NAME ".default"
#define SAGOI_SUBFILES_NEW SAGOI_SUBFILES_NAME ".new"

enum { SAGOI_SUBFILES_TEXT_MAX = 256, SAGOI_SUBFILE_NAME_MAX = 16 };

/* Writes the text of a rule and returns its length. */
int64_t sagoi_subfiles_format(const sagoi_subfiles *rule, char text[SAGOI_SUBFILES_TEXT_MAX]);
/* Reads a rule from bytes that may be anything; SAGO_ERR_BAD_FILE, with `name` in the message. */
sago_status sagoi_subfiles_parse(const char *name, const char *text, int64_t bytes, sagoi_subfiles *rule)
    SAGOI_CHECKED;

void sagoi_subfile_name(int64_t subfile, char name[SAGOI_SUBFILE_NAME_MAX]);

#endif
