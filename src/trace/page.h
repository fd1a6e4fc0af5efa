/* The page that draws a report, from page.html: made into a text by CMake. */
#ifndef SAGOI_PAGE_H
#define SAGOI_PAGE_H

extern const unsigned char sagoi_page_template[]; /* ends in a NUL */

#endif
