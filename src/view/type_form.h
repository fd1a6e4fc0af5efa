/* Flattened types that several may hold on to: requests, and the types themselves.
 *
 * Programs give the same memory type in call after call, and flattening it can cost more than a small call; they
 * open file after file with the same view, and flattening that takes milliseconds if it has many runs.  What a
 * type looks like never changes, and MPI tells when it goes: a form that is not large is kept as an attribute of
 * its type. Requests and views count as users, since a type may be freed before they are done. */
#ifndef SAGOI_TYPE_FORM_H
#define SAGOI_TYPE_FORM_H

#include "view/flatten.h"

typedef struct sagoi_type_form {
    sagoi_flat flat;
    int64_t plain_size; /* of a type that has no gaps, neither inside nor to the next one: its bytes; else 0 */
    _Atomic int64_t users;
} sagoi_type_form;

/* The type's form, found with it or made from `budget`; released after use.  `least`: it is kept with the type if
 * that is described by so many numbers; attributes of a type cost about a kilobyte in Open MPI. */
sago_status sagoi_type_form_get(MPI_Datatype type, int64_t least, sagoi_budget *budget, sagoi_type_form **form)
    SAGOI_CHECKED;
void sagoi_type_form_release(sagoi_type_form *form);
int64_t
sagoi_type_form_bytes(const sagoi_type_form *form); /* that are the type's, and nobody's budget counts; else 0 */

/* Bytes of a type without gaps, if that is known without flattening it; else 0, and *form is what is kept with
 * the type, for as long as that lives, or NULL. */
int64_t sagoi_look_up(MPI_Datatype type, const sagoi_type_form **form);
int64_t sagoi_plain_size(MPI_Datatype type); /* the first half */

#endif
