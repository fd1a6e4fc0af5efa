/* The time, as checkpoints see it. */
#ifndef SAGOI_CKPT_CLOCK_H
#define SAGOI_CKPT_CLOCK_H

double sagoi_ckpt_now(void);  /* monotonic, seconds */
double sagoi_ckpt_date(void); /* seconds since 1970 */

#endif
