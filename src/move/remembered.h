/* What an aggregator remembers of one plan: the coded extents of every packet it was sent, so that the next call
 * of the same shape needs to send only data. */
#ifndef SAGOI_REMEMBERED_H
#define SAGOI_REMEMBERED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"

/* Names a packet: the round, the pass of the round, the source, and the packet's number in that message. */
typedef struct sagoi_remembered_packet {
    int64_t round;
    int32_t pass, source; /* the source is a rank of the team */
    int32_t number;
    int32_t unused;
    int64_t at, code, data; /* bytes: place in `codes`, length of the code, length of the data */
} sagoi_remembered_packet;

typedef struct sagoi_remembered {
    sagoi_remembered_packet *packets; /* ascending by name once sorted */
    int64_t npackets, packets_capacity;
    uint8_t *codes;
    int64_t codes_bytes, codes_capacity;
    bool full;     /* the budget did not allow to keep every packet */
    bool complete; /* every aggregator of the team remembers all, so senders may leave the extents out */
} sagoi_remembered;

void sagoi_remembered_cleanup(sagoi_remembered *list,
                              sagoi_budget *budget); /* fine on a zeroed struct, and twice */

/* Remembers one packet; sets `full` if it does not fit the budget. */
void sagoi_remembered_add(sagoi_remembered *list, const sagoi_remembered_packet *packet, const uint8_t *code,
                          sagoi_budget *budget);
void sagoi_remembered_sort(sagoi_remembered *list);

/* Finds a packet by its name; NULL: it is not remembered. */
const sagoi_remembered_packet *sagoi_remembered_find(const sagoi_remembered *list,
                                                     const sagoi_remembered_packet *place);
/* The first packet of a round; NULL: there is none. */
const sagoi_remembered_packet *sagoi_remembered_first(const sagoi_remembered *list, int64_t round);
/* The packet after this one; NULL: that one is of another round, or there is none. */
const sagoi_remembered_packet *sagoi_remembered_next(const sagoi_remembered *list,
                                                     const sagoi_remembered_packet *packet);

#endif
