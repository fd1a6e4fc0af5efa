/* How many descriptors Sago may have beside the MPI library's, which has one for each file, too.
 *
 * What the MPI library and the program can open must not depend on Sago: it has a descriptor for a file only while
 * it has no more than an eighth of what the process may have, and a quarter is left for the others. */
#ifndef DROPIN_DESCRIPTORS_H
#define DROPIN_DESCRIPTORS_H

#include <stdbool.h>

/* True: one more; to be given back when the file is closed. */
bool dropin_descriptor_take(void);
void dropin_descriptor_give_back(void);

#endif
