/* Machine descriptions as text, and whether two are the same. */
#ifndef TESTS_DESCRIPTION_TEXT_H
#define TESTS_DESCRIPTION_TEXT_H

#include <stdio.h>

#include "machine/description.h"

/* Text that is parsed back to the same description. */
void description_write(const sagoi_description *description, FILE *out);
bool description_equal(const sagoi_description *a, const sagoi_description *b);

#endif
