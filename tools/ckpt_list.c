/* `sago ckpt ls` and `show`, as tables and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/size_text.h"
#include "base/json.h"
#include "tools/ckpt.h"
#include "tools/colour.h"

static const sago_level levels[] = {SAGO_LEVEL_LOCAL, SAGO_LEVEL_REDUNDANT, SAGO_LEVEL_GLOBAL};
enum { LEVELS = sizeof levels / sizeof levels[0] };

/* "yes", "3/4" or "-". */
static const char *level_text(const sago_ckpt_step *step, sago_level level, char text[CKPT_TEXT_MAX]) {
    if (step->complete[level])
        return "yes";
    if (step->parts[level] == 0)
        return "-";
    snprintf(text, CKPT_TEXT_MAX, "%" PRId64 "/%" PRId64, step->parts[level], step->writers);
    return text;
}

static void put_step(sagoi_json *json, const sago_ckpt_step *step) {
    char id[40];
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, step->save_id[1], step->save_id[0]);
    sagoi_json_int(json, "step", step->step);
    sagoi_json_int(json, "time", step->time);
    sagoi_json_int(json, "bytes", step->bytes);
    sagoi_json_int(json, "arrays", step->arrays);
    sagoi_json_int(json, "ranks", step->ranks);
    sagoi_json_int(json, "writers", step->writers);
    sagoi_json_int(json, "files", step->files);
    sagoi_json_open(json, "levels", '{');
    for (int i = 0; i < LEVELS; i++) {
        sagoi_json_open(json, sago_level_string(levels[i]), '{');
        sagoi_json_bool(json, "complete", step->complete[levels[i]]);
        sagoi_json_int(json, "parts", step->parts[levels[i]]);
        sagoi_json_close(json, '}');
    }
    sagoi_json_close(json, '}');
    sagoi_json_bool(json, "damaged", step->damaged);
    sagoi_json_bool(json, "late", step->late);
    sagoi_json_text(json, "state", ckpt_state(step));
    sagoi_json_text(json, "save_id", id);
}

static void end_json(sagoi_json *json) {
    sagoi_json_close(json, '}');
    putchar('\n');
}

/* ---- ls ---- */

static void print_table(const ckpt_command *c) {
    char time[CKPT_TEXT_MAX], level[LEVELS][CKPT_TEXT_MAX];
    printf("%s%7s %-19s %9s %6s %5s %-5s %-5s %-6s %s%s\n", colour_on(COLOUR_BOLD), "STEP", "TIME", "SIZE",
           "ARRAYS", "RANKS", "LOCAL", "REDUN", "GLOBAL", "STATE", colour_off());
    for (int64_t i = 0; i < c->count; i++) {
        const sago_ckpt_step *s = &c->all[i];
        printf("%7" PRId64 " %-19s %9s %6" PRId64 " %5" PRId64 " %-5s %-5s %-6s %s%s%s\n", s->step,
               ckpt_time_text(s->time, time), sagoi_size_to_text(s->bytes).text, s->arrays, s->ranks,
               level_text(s, levels[0], level[0]), level_text(s, levels[1], level[1]),
               level_text(s, levels[2], level[2]), colour_on(ckpt_is_complete(s) ? COLOUR_GOOD : COLOUR_BAD),
               ckpt_state(s), colour_off());
    }
}

/* Shows what takes up space without being a step that is kept. */
static bool print_damaged(const ckpt_command *c) {
    sago_ckpt_stats stats = SAGO_CKPT_STATS_INIT;
    if (sago_ckpt_get_stats(c->ckpt, &stats))
        return ckpt_complain(c);
    if (c->speaks && stats.damaged > 0)
        printf("%" PRId64 " damaged, %s set aside as damaged-*: \"sago ckpt rm %s --damaged\" removes what is\n",
               stats.damaged, sagoi_size_to_text(stats.damaged_bytes).text, c->dir);
    return true;
}

static void print_late(const ckpt_command *c) {
    int64_t late = 0;
    for (int64_t i = 0; i < c->count; i++)
        late += c->all[i].late;
    if (c->speaks && late > 0)
        printf("%" PRId64 " late: made by a job that another one had replaced; what is late does not count\n",
               late);
}

int ckpt_ls(ckpt_command *c) {
    if (c->speaks && !c->json)
        print_table(c);
    if (!c->json) {
        print_late(c);
        return print_damaged(c) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (!c->speaks)
        return EXIT_SUCCESS;
    sagoi_json json = {.out = stdout, .lines = SAGOI_JSON_INDENTED};
    sagoi_json_open(&json, NULL, '{');
    sagoi_json_text(&json, "directory", c->dir);
    sagoi_json_open(&json, "steps", '[');
    for (int64_t i = 0; i < c->count; i++) {
        sagoi_json_open(&json, NULL, '{');
        put_step(&json, &c->all[i]);
        sagoi_json_close(&json, '}');
    }
    sagoi_json_close(&json, ']');
    end_json(&json);
    return EXIT_SUCCESS;
}

/* ---- show ---- */

static const char *kind_text(sago_ckpt_kind kind) {
    return kind == SAGO_CKPT_ARRAY ? "array" : kind == SAGO_CKPT_LOCAL ? "local" : "shared";
}

/* "64 x 32 x 16" */
static const char *shape_text(const sago_ckpt_info *info, char text[], size_t room) {
    size_t used = 0;
    text[0] = 0;
    for (int d = 0; d < info->ndims && used < room; d++)
        used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, d ? " x " : "", info->global[d]);
    return text;
}

static void print_array(const sago_ckpt_info *info) {
    char shape[24 * SAGO_CKPT_DIMS_MAX];
    printf("%-20s %-7s %-10s %10s  %s\n", info->name, kind_text(info->kind),
           info->kind == SAGO_CKPT_ARRAY ? info->type : "bytes", sagoi_size_to_text(info->bytes).text,
           shape_text(info, shape, sizeof shape));
}

static void put_array(sagoi_json *json, const sago_ckpt_info *info) {
    sagoi_json_open(json, NULL, '{');
    sagoi_json_text(json, "name", info->name);
    sagoi_json_text(json, "kind", kind_text(info->kind));
    sagoi_json_text(json, "type", info->type);
    sagoi_json_int(json, "element_size", info->element_size);
    sagoi_json_int(json, "bytes", info->bytes);
    sagoi_json_open(json, "shape", '[');
    for (int d = 0; d < info->ndims; d++)
        sagoi_json_int(json, NULL, info->global[d]);
    sagoi_json_close(json, ']');
    sagoi_json_close(json, '}');
}

static void print_step(const sago_ckpt_step *s) {
    char time[CKPT_TEXT_MAX], level[CKPT_TEXT_MAX];
    printf("step %" PRId64 ", %s", s->step, ckpt_state(s));
    if (s->ranks > 0) /* else nothing that could be read tells of the save */
        printf(", saved %s by %" PRId64 " rank%s",
               s->time > 0 ? ckpt_time_text(s->time, time) : "at an unknown time", s->ranks,
               sagoi_plural(s->ranks));
    printf("\n");
    printf("%s in %" PRId64 " part%s, %" PRId64 " file%s at the global level\n", sagoi_size_to_text(s->bytes).text,
           s->writers, sagoi_plural(s->writers), s->files, sagoi_plural(s->files));
    for (int i = 0; i < LEVELS; i++)
        printf("%s%s: %s", i ? ", " : "", sago_level_string(levels[i]), level_text(s, levels[i], level));
    printf("\n\n%-20s %-7s %-10s %10s  %s\n", "NAME", "KIND", "TYPE", "SIZE", "SHAPE");
}

int ckpt_show(ckpt_command *c) {
    const sago_ckpt_step *step = c->nsteps > 0 ? ckpt_find(c, c->steps[0]) : ckpt_newest(c);
    if (!step) {
        if (c->nsteps == 0 && c->speaks)
            fprintf(stderr, "sago ckpt show: %s has no complete step\n", c->dir);
        return EXIT_FAILURE;
    }
    sagoi_json json = {.out = stdout, .lines = SAGOI_JSON_INDENTED};
    if (c->speaks && c->json) {
        sagoi_json_open(&json, NULL, '{');
        put_step(&json, step);
        sagoi_json_open(&json, "data", '[');
    } else if (c->speaks) {
        print_step(step);
    }
    for (int64_t i = 0; i < step->arrays; i++) {
        sago_ckpt_info info = SAGO_CKPT_INFO_INIT;
        if (sago_ckpt_inquire_index(c->ckpt, step->step, i, &info)) {
            ckpt_complain(c);
            return EXIT_FAILURE;
        }
        if (c->speaks && c->json)
            put_array(&json, &info);
        else if (c->speaks)
            print_array(&info);
    }
    if (c->speaks && c->json) {
        sagoi_json_close(&json, ']');
        end_json(&json);
    }
    return EXIT_SUCCESS;
}
