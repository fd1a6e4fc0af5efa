/* Failing with a message.
 *
 * The function that first notices an error calls sagoi_fail(), which keeps the message for sago_error_message()
 * in thread-local storage, and returns the status to be handed on.  The statuses themselves are in
 * sago/status.h. */
#ifndef SAGOI_STATUS_H
#define SAGOI_STATUS_H

#include <sago/status.h>

#define SAGOI_CHECKED __attribute__((warn_unused_result))
#define SAGOI_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
/* Marks a function that is called where something has gone wrong.  The compiler keeps such a function, and the
 * code that leads to it, apart from the code of small calls: after a pause a call pays for each page of code that
 * it touches. */
#define SAGOI_COLD __attribute__((cold))

enum { SAGOI_MESSAGE_MAX = 512 }; /* bytes, the closing NUL included */

/* Sets this thread's message and returns `status`. */
sago_status sagoi_fail(sago_status status, const char *format, ...) SAGOI_PRINTF(2, 3) SAGOI_COLD;

/* Does the same for a system call that failed with the errno `error`, from which the status follows. */
sago_status sagoi_fail_errno(int error, const char *format, ...) SAGOI_PRINTF(2, 3) SAGOI_COLD;

/* Puts a prefix ("sago_open: ") before this thread's message. */
void sagoi_message_prefix(const char *format, ...) SAGOI_PRINTF(1, 2);

void sagoi_message_clear(void);
void sagoi_message_set(const char *text);
/* Copies this thread's message, for sagoi_message_set() after calls that may fail, too. */
void sagoi_message_keep(char kept[SAGOI_MESSAGE_MAX]);
const char *sagoi_message(void);

#endif
