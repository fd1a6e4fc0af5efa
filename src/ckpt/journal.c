/* The hint sago_ckpt_stats: rank 0 adds a line of JSON to a file for every checkpoint that has reached its last
 * level, or will never reach it.  So one file tells about all of them, while the job runs and afterwards.  It is
 * an error if the file cannot be opened; later nothing fails because of it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
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

/* ---- A line, made in memory and added by one write ---- */

typedef struct journal_line {
    sagoi_json json;
    char *text;
    size_t length;
} journal_line;

/* false: the line is not wanted, or there is no memory for it. */
static bool line_begin(journal_line *line, const sago_ckpt *ckpt, int64_t step, const char *state) {
    *line = (journal_line){0};
    line->json.out = ckpt->journal.fd >= 0 ? open_memstream(&line->text, &line->length) : NULL;
    if (!line->json.out)
        return false;
    sagoi_json_open(&line->json, NULL, '{');
    sagoi_json_int(&line->json, "step", step);
    sagoi_json_fixed(&line->json, "date", sagoi_ckpt_date(), 3);
    sagoi_json_text(&line->json, "state", state);
    return true;
}

static void line_end(journal_line *line, sago_ckpt *ckpt) {
    sagoi_json_close(&line->json, '}');
    if (fclose(line->json.out) == 0 && sagoi_cfile_write(&ckpt->journal, line->text, (int64_t)line->length, 0))
        sagoi_message_clear(); /* nobody can be told of this failure */
    free(line->text);
}

static void add_event(sago_ckpt *ckpt, int64_t step, const char *state, const char *why) {
    journal_line line;
    if (!line_begin(&line, ckpt, step, state))
        return;
    if (why)
        sagoi_json_text(&line.json, "error", why);
    line_end(&line, ckpt);
}

void sagoi_journal_dropped(sago_ckpt *ckpt, int64_t step, const char *how) { add_event(ckpt, step, how, NULL); }

void sagoi_journal_damaged(sago_ckpt *ckpt, int64_t step, int64_t bytes, const char *why) {
    char text[SAGOI_MESSAGE_MAX];
    (void)snprintf(text, sizeof text, "%lld bytes are set aside: %s", (long long)bytes, why);
    add_event(ckpt, step, "damaged", text);
}

void sagoi_journal_passed_over(sago_ckpt *ckpt, int64_t step, const char *why) {
    add_event(ckpt, step, "passed over", why);
}

static void add_save(sago_ckpt *ckpt, const sagoi_saving *saving, const sago_ckpt_save_stats *s) {
    journal_line line;
    if (!line_begin(&line, ckpt, s->step, s->written > 0 ? "written" : "failed"))
        return;
    sagoi_json_text(&line.json, "level", sago_level_string((sago_level)s->level));
    sagoi_json_int(&line.json, "bytes", s->bytes);
    sagoi_json_fixed(&line.json, "held", s->held, 6);
    sagoi_json_fixed(&line.json, "copy", s->copy, 6);
    sagoi_json_fixed(&line.json, "queue", s->queue, 6);
    sagoi_json_fixed(&line.json, "write", s->write, 6);
    sagoi_json_fixed(&line.json, "redundancy", s->redundancy, 6);
    sagoi_json_fixed(&line.json, "drain", s->drain, 6);
    sagoi_json_fixed(&line.json, "perceived", s->perceived, 0);
    sagoi_json_fixed(&line.json, "raw", s->raw, 0);
    if (saving->status)
        sagoi_json_text(&line.json, "error", saving->message);
    line_end(&line, ckpt);
}

/* For the report: what this rank knows of each checkpoint, whenever it is asked; in the report the slowest rank
 * counts. */
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
