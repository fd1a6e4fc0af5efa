/* Flattened types with several users: requests, and the types themselves.
 *
 * Programs give the same memory type in call after call, and flattening it can cost more than a small call.
 * They also open file after file with the same view, and flattening a view with many runs takes milliseconds.
 * A type never changes, and MPI tells when it is freed, so a form that is not large is kept as an attribute of
 * its type.  Requests and views count as users, since a type may be freed before they are done. */
#ifndef SAGOI_TYPE_FORM_H
#define SAGOI_TYPE_FORM_H

#include "view/flatten.h"

typedef struct sagoi_type_form {
    sagoi_flat flat;
    int64_t plain_size; /* bytes of a type that has no gaps, neither inside nor to the next element; else 0 */
    _Atomic int64_t users;
} sagoi_type_form;

/* Finds the type's form, or makes it, counted in `budget`; the caller releases it after use.  It is kept with the
 * type if at least `least` numbers describe the type; attributes of a type cost about a kilobyte in Open MPI. */
sago_status sagoi_type_form_get(MPI_Datatype type, int64_t least, sagoi_budget *budget, sagoi_type_form **form)
    SAGOI_CHECKED;
void sagoi_type_form_release(sagoi_type_form *form);
int64_t
/* Bytes that belong to the type, so that no budget counts them; else 0. */
sagoi_type_form_bytes(const sagoi_type_form *form);

/* Bytes of a type without gaps, if that is known without flattening it.  Else 0, and *form is the form that is
 * kept with the type, valid as long as the type lives, or NULL. */
int64_t sagoi_look_up(MPI_Datatype type, const sagoi_type_form **form);
int64_t sagoi_plain_size(MPI_Datatype type); /* the first half of sagoi_look_up() */

#endif
