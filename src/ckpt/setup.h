#ifndef SAGOI_CKPT_SETUP_H
#define SAGOI_CKPT_SETUP_H

#include "ckpt/state.h"

/* Collective.  The team, the hints and the directory's name are there; everything else is found, made and started.
 * After a failure: sagoi_ckpt_tear_down(). */
sago_status sagoi_ckpt_set_up(sago_ckpt *ckpt) SAGOI_CHECKED;

/* Collective.  Waits until everything is written; what failed and was not told. */
sago_status sagoi_ckpt_finish(sago_ckpt *ckpt) SAGOI_CHECKED;

/* No communication but freeing communicators. */
void sagoi_ckpt_tear_down(sago_ckpt *ckpt);

#endif
