/* Counting and timing of phases, into the statistics that the application can ask for. */
#ifndef SAGOI_STATS_H
#define SAGOI_STATS_H

#include <sago/stats.h>
#include <time.h>

#include "base/fiber.h"

/* Seconds by the machine's clock, which never goes back. */
static inline double sagoi_clock(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds without the time in which a fiber did not run: that time was the application's, or other calls'. */
static inline double sagoi_now(void) {
    double away = sagoi_fibers_pending() ? sagoi_fiber_away() : 0;
    return sagoi_clock() - away;
}

/* sagoi_phase_end() for a phase that is recorded, or that runs on a fiber. */
double sagoi_phase_end_unusual(sago_stats *stats, sago_phase phase, double start);

/* Adds the time since `start` to a phase; returns the time now, at which the next phase begins. */
static inline double sagoi_phase_end(sago_stats *stats, sago_phase phase, double start) {
    if (__builtin_expect(sagoi_is_unusual(), 0))
        return sagoi_phase_end_unusual(stats, phase, start);
    double now = sagoi_clock();
    stats->phase[phase].seconds += now - start;
    return now;
}

/* Functions of recorder.c, for the functions below, which first ask whether anything is recorded.  ranks[]:
 * this rank, which sent or received the message, and the other one.  round: the round that the next phases
 * belong to. */
void sagoi_recorder_message(const sago_stats *stats, bool sent, const int ranks[2], int64_t bytes);
void sagoi_recorder_round(const sago_stats *stats, int64_t round);
void sagoi_recorder_no_call(const sago_stats *stats);

static inline void sagoi_record_message(const sago_stats *stats, bool sent, const int ranks[2], int64_t bytes) {
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_recorder_message(stats, sent, ranks, bytes);
}

/* The phases that ended last belong to no call of the user's: the next call begins with its own first phase. */
static inline void sagoi_record_no_call(const sago_stats *stats) {
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_recorder_no_call(stats);
}

static inline void sagoi_record_round(const sago_stats *stats, int64_t round) {
    if (__builtin_expect(sagoi_is_recorded(), 0))
        sagoi_recorder_round(stats, round);
}

static inline void sagoi_phase_count(sago_stats *stats, sago_phase phase, int64_t bytes, int64_t runs,
                                     int64_t messages) {
    stats->phase[phase].bytes += bytes;
    stats->phase[phase].runs += runs;
    stats->phase[phase].messages += messages;
}

#endif
