/* Where code lies in the library: what small calls go through is together, without what is seldom needed in
 * between, since after a pause a call pays for each page of code. */
#ifndef SAGOI_OFTEN_H
#define SAGOI_OFTEN_H

#define SAGOI_OFTEN __attribute__((hot))
#define SAGOI_SELDOM __attribute__((cold)) /* and whatever leads to it */

#endif
