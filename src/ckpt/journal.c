/* The hint sago_ckpt_stats: rank 0 adds a line of JSON to a file for every checkpoint that has come as far as it
 * is to go, or never will.  Whoever looks at it reads one file, while the job runs and after it.  A file that
 * cannot be opened is an error; later nothing fails because of it. */
#include <stdio.h>
#include <string.h>

#include "ckpt/state.h"
#include "trace/recorder.h"

sago_status sagoi_journal_open(sago_ckpt *ckpt) {
    const char *path = ckpt->hints.ckpt_stats;
    if (!path[0] || ckpt->team->rank != 0 || ckpt->hints.ckpt_read_only)
        return SAGO_OK;
    sago_status status = sagoi_watch_begin(path, ckpt->hints.ckpt_patience, &ckpt->watched_journal);
    if (!status)
        status = sagoi_cfile_open(path, SAGOI_CFILE_APPEND, &ckpt->journal);
    if (status)
        sagoi_message_prefix("hint sago_ckpt_stats: ");
    return status;
}

void sagoi_journal_close(sago_ckpt *ckpt) {
    (void)sagoi_cfile_close(&ckpt->journal);
    sagoi_watch_end(&ckpt->watched_journal);
}

static void add_line(sago_ckpt *ckpt, const char *line, int length) {
    if (ckpt->journal.fd >= 0 && sagoi_cfile_write(&ckpt->journal, line, length, 0))
        sagoi_message_clear(); /* there is nobody to tell */
}

void sagoi_journal_dropped(sago_ckpt *ckpt, int64_t step, const char *how) {
    char line[128];
    int length = snprintf(line, sizeof line, "{\"step\": %lld, \"date\": %.3f, \"state\": \"%s\"}\n",
                          (long long)step, sagoi_ckpt_date(), how);
    add_line(ckpt, line, length);
}

/* Messages have paths in them, and those anything. */
static void quote(char *to, size_t room, const char *text) {
    size_t at = 0;
    for (; *text && at + 7 < room; text++)
        if (*text == '"' || *text == '\\') {
            to[at++] = '\\';
            to[at++] = *text;
        } else if ((unsigned char)*text < ' ') {
            at += (size_t)snprintf(to + at, room - at, "\\u%04x", (unsigned)(unsigned char)*text);
        } else {
            to[at++] = *text;
        }
    to[at] = '\0';
}

static void add_event(sago_ckpt *ckpt, int64_t step, const char *state, const char *why) {
    char line[2 * SAGOI_MESSAGE_MAX + 128], reason[2 * SAGOI_MESSAGE_MAX];
    quote(reason, sizeof reason, why);
    int length =
        snprintf(line, sizeof line, "{\"step\": %lld, \"date\": %.3f, \"state\": \"%s\", \"error\": \"%s\"}\n",
                 (long long)step, sagoi_ckpt_date(), state, reason);
    add_line(ckpt, line, length);
}

void sagoi_journal_damaged(sago_ckpt *ckpt, int64_t step, int64_t bytes, const char *why) {
    char text[SAGOI_MESSAGE_MAX];
    (void)snprintf(text, sizeof text, "%lld bytes are set aside: %s", (long long)bytes, why);
    add_event(ckpt, step, "damaged", text);
}

void sagoi_journal_passed_over(sago_ckpt *ckpt, int64_t step, const char *why) {
    add_event(ckpt, step, "passed over", why);
}

static void add_save(sago_ckpt *ckpt, const sagoi_saving *saving, const sago_ckpt_save_stats *s) {
    char line[2048], why[2 * SAGOI_MESSAGE_MAX];
    quote(why, sizeof why, saving->status ? saving->message : "");
    int length = snprintf(
        line, sizeof line,
        "{\"step\": %lld, \"date\": %.3f, \"state\": \"%s\", \"level\": \"%s\", \"bytes\": %lld, \"held\": %.6f, "
        "\"copy\": %.6f, \"queue\": %.6f, \"write\": %.6f, \"redundancy\": %.6f, \"drain\": %.6f, "
        "\"perceived\": %.0f, \"raw\": %.0f%s%s%s}\n",
        (long long)s->step, sagoi_ckpt_date(), s->written > 0 ? "written" : "failed",
        sago_level_string((sago_level)s->level), (long long)s->bytes, s->held, s->copy, s->queue, s->write,
        s->redundancy, s->drain, s->perceived, s->raw, *why ? ", \"error\": \"" : "", why, *why ? "\"" : "");
    add_line(ckpt, line, length);
}

/* For the report: what this rank knows of each, as often as it is asked; there the slowest rank counts. */
static void record_saves(const sago_ckpt *ckpt) {
    for (const sagoi_saving *at = ckpt->saves; at; at = at->next) {
        const sago_ckpt_save_stats *s = &at->stats;
        if (!sagoi_saving_open(at))
            sagoi_recorder_step(&(sagoi_record_step){.step = s->step,
                                                     .bytes = s->bytes,
                                                     .date = sagoi_ckpt_date(),
                                                     .held = s->held,
                                                     .copy = s->copy,
                                                     .queue = s->queue,
                                                     .write = s->write,
                                                     .redundancy = s->redundancy,
                                                     .drain = s->drain,
                                                     .written = s->written,
                                                     .level = s->level});
    }
}

sago_status sagoi_journal_advance(sago_ckpt *ckpt) {
    if (sagoi_is_recorded())
        record_saves(ckpt);
    if (!ckpt->hints.ckpt_stats[0])
        return SAGO_OK;
    for (sagoi_saving *at = ckpt->saves; at; at = at->next) {
        sago_ckpt_save_stats stats = at->stats;
        if (at->journalled || sagoi_saving_open(at))
            continue;
        sago_status status = sagoi_save_stats_reduce(ckpt, &stats, 1);
        if (status)
            return status;
        at->journalled = true;
        add_save(ckpt, at, &stats);
    }
    return SAGO_OK;
}
