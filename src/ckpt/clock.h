/* The time, as checkpoints see it; tests may let it go on faster. */
#ifndef SAGOI_CKPT_CLOCK_H
#define SAGOI_CKPT_CLOCK_H

double sagoi_ckpt_now(void);  /* monotonic, seconds */
double sagoi_ckpt_date(void); /* seconds since 1970 */

/* For tests: both clocks of this process go forward by so much at once. */
void sagoi_clock_shift(double seconds);

#endif
