/* The text of a report's JSON. */
#ifndef TOOLS_REPORT_FILE_H
#define TOOLS_REPORT_FILE_H

/* malloc()ed; NULL: `why`. */
char *report_read(const char *path, char *why);

#endif
