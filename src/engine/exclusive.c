/* The files that this process has open for writing.  The list is one of the few globals of the library, since
 * nothing else leads from one handle to another handle of the same file. */
#include "engine/exclusive.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "engine/file.h"
#include "move/circle.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sagoi_writable *first;
static atomic_bool unseen; /* the process writes to files in ways that Sago does not see */

void sagoi_writable_add(sagoi_writable *one) {
    (void)pthread_mutex_lock(&lock);
    one->next = first;
    first = one;
    (void)pthread_mutex_unlock(&lock);
}

void sagoi_writable_remove(sagoi_writable *one) {
    (void)pthread_mutex_lock(&lock);
    for (sagoi_writable **at = &first; *at; at = &(*at)->next)
        if (*at == one) {
            *at = one->next;
            break;
        }
    (void)pthread_mutex_unlock(&lock);
}

/* Has this process another handle of the same file, or does it write to files in ways that Sago does not see
 * (sago_write_elsewhere())? */
static bool writable_elsewhere(const sagoi_writable *one) {
    if (atomic_load(&unseen))
        return true;
    (void)pthread_mutex_lock(&lock);
    const sagoi_writable *at = first;
    while (at && (at == one || at->device != one->device || at->inode != one->inode))
        at = at->next;
    (void)pthread_mutex_unlock(&lock);
    return at != NULL;
}

void sago_write_elsewhere(void) { atomic_store(&unseen, true); }

bool sagoi_is_exclusive(const sago_file *file) {
    return sagoi_store_layout(file->store)->coherent && file->team->circle->whole_job && !file->deferred &&
           !file->tier && !sagoi_store_subfile_count(file->store) && atomic_load(&file->pending) == 0 &&
           !writable_elsewhere(&file->writable);
}
