/* `sago ckpt verify`, `repair`, `drain` and `rm`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tools/ckpt.h"
#include "tools/colour.h"

/* Prints the report of the last verify, line by line, behind the text so far. */
static void print_report(const ckpt_command *c) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    if (sago_ckpt_get_report(c->ckpt, &report) || !c->speaks)
        return;
    char *rest = report.text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line)
            printf("    %s\n", line);
}

static void say(const ckpt_command *c, int64_t step, const char *what) {
    ckpt_progress(c, "", 0, 0);
    if (c->speaks)
        printf("step %" PRId64 ": %s\n", step, what);
}

/* ---- verify ---- */

static void say_verdict(const ckpt_command *c, int64_t step, bool good, const char *what) {
    ckpt_progress(c, "", 0, 0);
    if (c->speaks)
        printf("step %" PRId64 ": %s%s%s\n", step, colour_on(good ? COLOUR_GOOD : COLOUR_BAD), what, colour_off());
}

/* The report is that of the last step that was verified, which one that is not complete is not. */
static void put_result(const ckpt_command *c, sagoi_json *json, const sago_ckpt_step *step, bool good) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    sago_status status = sago_ckpt_get_report(c->ckpt, &report);
    const char *text = ckpt_is_complete(step) ? report.text : ckpt_state(step);
    if (!c->speaks)
        return;
    sagoi_json_open(json, NULL, '{');
    sagoi_json_int(json, "step", step->step);
    sagoi_json_bool(json, "good", good);
    sagoi_json_text(json, "report", status ? NULL : text);
    sagoi_json_close(json, '}');
}

int ckpt_verify(ckpt_command *c) {
    sagoi_json json = {.out = stdout, .lines = SAGOI_JSON_INDENTED};
    bool all_good = true;
    if (!ckpt_choose(c))
        return EXIT_FAILURE;
    if (c->json && c->speaks)
        sagoi_json_open(&json, NULL, '[');
    for (int64_t i = 0; i < c->nsteps; i++) {
        ckpt_progress(c, "verifying", i + 1, c->nsteps);
        const sago_ckpt_step *step = ckpt_find(c, c->steps[i]);
        bool complete = ckpt_is_complete(step);
        bool good = complete && sago_ckpt_verify(c->ckpt, c->steps[i]) == SAGO_OK;
        all_good &= good;
        if (c->json) {
            put_result(c, &json, step, good);
            continue;
        }
        say_verdict(c, c->steps[i], good, good ? "good" : complete ? "DAMAGED" : ckpt_state(step));
        if (complete && !good)
            print_report(c);
    }
    if (c->json && c->speaks) {
        sagoi_json_close(&json, ']');
        putchar('\n');
    }
    return all_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- drain ---- */

static bool drain_one(const ckpt_command *c, int64_t step, int64_t i, int64_t n) {
    ckpt_progress(c, "draining", i, n);
    if (sago_ckpt_drain(c->ckpt, step)) {
        say(c, step, "could not be brought to the directory");
        return ckpt_complain(c);
    }
    say(c, step, "is in the directory");
    return true;
}

int ckpt_drain(ckpt_command *c) {
    bool asked = c->nsteps > 0, ok = true;
    int64_t done = 0;
    if (!ckpt_choose(c))
        return EXIT_FAILURE;
    for (int64_t i = 0; i < c->nsteps; i++) {
        const sago_ckpt_step *step = ckpt_find(c, c->steps[i]);
        if (step->complete[SAGO_LEVEL_GLOBAL] || (!asked && !ckpt_is_complete(step)))
            continue;
        ok &= drain_one(c, c->steps[i], i + 1, c->nsteps);
        done++;
    }
    if (done == 0 && c->speaks)
        printf("nothing to do: every complete step is in the directory\n");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- repair ---- */

static bool is_asked(const ckpt_command *c, int64_t step) {
    for (int64_t i = 0; i < c->nsteps; i++)
        if (c->steps[i] == step)
            return true;
    return false;
}

static bool remove_damaged(const ckpt_command *c, int64_t step) {
    if (sago_ckpt_remove_damaged(c->ckpt, step))
        return ckpt_complain(c);
    say(c, step, "what was set aside as damaged is removed");
    return true;
}

/* Names what opening has set aside, now or earlier. */
static bool tell_damaged(const ckpt_command *c) {
    bool none = true;
    for (int64_t i = 0; i < c->count; i++) {
        int64_t step = c->all[i].step;
        if (!c->all[i].damaged || !is_asked(c, step) ||
            (i > 0 && c->all[i - 1].damaged && c->all[i - 1].step == step))
            continue;
        say(c, step, "damaged, cannot be repaired: set aside");
        none &= c->remove && remove_damaged(c, step);
    }
    return none;
}

static bool remove_one(const ckpt_command *c, int64_t step) {
    if (sago_ckpt_remove(c->ckpt, step))
        return ckpt_complain(c);
    say(c, step, "removed");
    return true;
}

/* Is everything of the step good at a level?  By the last verify. */
static bool good_somewhere(const ckpt_command *c) {
    sago_ckpt_report report = SAGO_CKPT_REPORT_INIT;
    bool good = sago_ckpt_get_report(c->ckpt, &report) != SAGO_OK;
    for (int level = SAGO_LEVEL_LOCAL; level < SAGO_LEVEL_COUNT; level++)
        good |= level != SAGO_LEVEL_REDUNDANT && report.bytes_from[level] > 0 && report.damaged[level] == 0 &&
                report.missing[level] == 0;
    return good;
}

/* What can be restored from is not removed because something else of the step cannot be mended, or because it
 * cannot be brought to the directory; nor is what cannot be read now. */
static bool give_up(const ckpt_command *c, int64_t number) {
    const char *what =
        ckpt_is_complete(ckpt_find(c, number)) ? "cannot be repaired" : "incomplete, cannot be repaired";
    ckpt_complain(c);
    sago_status status = sago_ckpt_verify(c->ckpt, number);
    bool whole = status == SAGO_OK || good_somewhere(c);
    say(c, number, whole ? "not everything can be repaired; one level has all of it" : what);
    print_report(c);
    bool hopeless = !whole && (status == SAGO_ERR_IO || status == SAGO_ERR_NO_FILE);
    return c->remove && hopeless && remove_one(c, number);
}

/* A step is repaired when everything it has is good, and all of it is at the global level.  True: nothing is left
 * to be done. */
static bool repair_one(const ckpt_command *c, int64_t number) {
    bool whole = ckpt_find(c, number)->complete[SAGO_LEVEL_GLOBAL];
    if (whole && sago_ckpt_verify(c->ckpt, number) == SAGO_OK) {
        say(c, number, "good");
        return true;
    }
    if (sago_ckpt_repair(c->ckpt, number) || (!whole && sago_ckpt_drain(c->ckpt, number)))
        return give_up(c, number);
    say(c, number, "repaired");
    return true;
}

int ckpt_repair(ckpt_command *c) {
    bool ok = true;
    if (!ckpt_choose(c))
        return EXIT_FAILURE;
    for (int64_t i = 0; i < c->nsteps; i++) {
        ckpt_progress(c, "repairing", i + 1, c->nsteps);
        if (!ckpt_find(c, c->steps[i])->damaged)
            ok &= repair_one(c, c->steps[i]);
    }
    ok &= tell_damaged(c);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- rm ---- */

static int rm_damaged(ckpt_command *c) {
    bool ok = true;
    if (!ckpt_choose(c))
        return EXIT_FAILURE;
    for (int64_t i = 0; i < c->count; i++)
        if (c->all[i].damaged && is_asked(c, c->all[i].step) && (i == 0 || c->all[i - 1].step != c->all[i].step))
            ok &= remove_damaged(c, c->all[i].step);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --keep N: removes everything older than the N-th newest complete step. */
static void choose_old(ckpt_command *c) {
    int64_t complete = 0;
    for (int64_t i = c->count - 1; i >= 0; i--) {
        if (complete >= c->keep && c->nsteps < CKPT_STEPS_MAX && !c->all[i].damaged &&
            !is_asked(c, c->all[i].step))
            c->steps[c->nsteps++] = c->all[i].step;
        complete += ckpt_is_complete(&c->all[i]);
    }
}

static bool would_leave_none(const ckpt_command *c) {
    bool any = false, left = false;
    for (int64_t i = 0; i < c->count; i++) {
        any |= ckpt_is_complete(&c->all[i]);
        left |= ckpt_is_complete(&c->all[i]) && !is_asked(c, c->all[i].step);
    }
    return any && !left;
}

int ckpt_rm(ckpt_command *c) {
    bool ok = true;
    if (c->damaged)
        return rm_damaged(c);
    if (c->keep >= 0)
        choose_old(c);
    else if (c->nsteps == 0) {
        if (c->speaks)
            fprintf(stderr, "sago ckpt rm: which steps? (STEP..., or --keep N)\n");
        return EXIT_FAILURE;
    }
    if (c->nsteps > 0 && !ckpt_choose(c))
        return EXIT_FAILURE;
    if (!c->force && would_leave_none(c)) {
        if (c->speaks)
            fprintf(stderr, "sago ckpt rm: no complete step would be left; --force removes it all the same\n");
        return EXIT_FAILURE;
    }
    for (int64_t i = 0; i < c->nsteps; i++)
        ok &= remove_one(c, c->steps[i]);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
