/* How many descriptors Sago may have besides the MPI library's, which has one for each file, too.
 *
 * What the MPI library and the program can open must not depend on Sago.  So Sago has a descriptor for a file
 * only while it has at most an eighth of the process's limit, and a quarter of the limit is free. */
#ifndef DROPIN_DESCRIPTORS_H
#define DROPIN_DESCRIPTORS_H

#include <stdbool.h>

/* true: there is one more descriptor, to be given back when the file is closed. */
bool dropin_descriptor_take(void);
void dropin_descriptor_give_back(void);

#endif
