#include "ckpt/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "ckpt/redundancy.h"
#include "move/collect.h"

static int64_t pieces_of(const sagoi_survey *survey, sagoi_member_file file) {
    sagoi_set set;
    if (!file.parity)
        return sagoi_div_up(survey->intent->writers[file.writer].bytes, survey->intent->piece);
    sagoi_set_find(survey->intent, survey->intent->writers[file.writer].set, &set);
    return set.k * set.chunk / SAGOI_PARITY_PIECE;
}

int64_t sagoi_survey_piece(const sagoi_survey *survey, sagoi_member_file file) {
    return file.parity ? SAGOI_PARITY_PIECE : survey->intent->piece;
}

bool sagoi_survey_good(const sagoi_survey *survey, sagoi_member_file file, int64_t from, int64_t to) {
    int64_t index = sagoi_survey_index(file), piece = sagoi_survey_piece(survey, file);
    int64_t n = survey->first[index + 1] - survey->first[index];
    for (int64_t i = from / piece; i < n && i * piece < to; i++)
        if (survey->bad[survey->first[index] + i])
            return false;
    return survey->holder[index] >= 0;
}

/* ---- Looking ---- */

static void look_at_data(sagoi_survey *survey, sagoi_fetch *fetch, int64_t writer) {
    unsigned char *bad = survey->bad + survey->first[2 * writer];
    for (int64_t i = 0; i < fetch->parts[writer].nsums; i++) {
        sagoi_poke(fetch->ckpt->team); /* as in fetch.c */
        bad[i] = sagoi_fetch_piece(fetch, SAGO_LEVEL_LOCAL, writer, i) != SAGO_OK;
    }
}

static sago_status look_at_parity(sagoi_survey *survey, const sagoi_fetch *fetch, int64_t writer,
                                  const sagoi_item *item) {
    char name[SAGOI_CKPT_FILE_NAME];
    sagoi_parity parity = {0};
    sagoi_cfile file = {.fd = -1};
    int64_t first = survey->first[2 * writer + 1], n = survey->first[2 * writer + 2] - first, got = 0;
    unsigned char *piece = malloc(SAGOI_PARITY_PIECE);
    sagoi_parity_data_name(name, item->index, item->member);
    sago_status status = piece ? sagoi_parity_decode(item->bytes, item->len, &parity)
                               : sagoi_fail(SAGO_ERR_MEMORY, "no memory to look at parity");
    if (!status) {
        bool open =
            parity.piece == SAGOI_PARITY_PIECE && parity.nsums == n &&
            !sagoi_open_local(fetch->ckpt, item->step, fetch->save->intent.id, name, SAGOI_CFILE_READ, &file);
        for (int64_t i = 0; open && i < n; i++)
            survey->bad[first + i] =
                sagoi_cfile_read(&file, piece, SAGOI_PARITY_PIECE, i * SAGOI_PARITY_PIECE, &got) != SAGO_OK ||
                sagoi_piece_sum(piece, got) != parity.sums[i];
        sagoi_parity_cleanup(&parity);
    }
    (void)sagoi_cfile_close(&file);
    free(piece);
    return status;
}

/* Finds the holder of each file.  A file that no rank has counts as bad; in a file that another rank reads, that
 * rank may find damage. */
static sago_status look(sagoi_survey *survey, sagoi_fetch *fetch) {
    sago_status status = SAGO_OK;
    int me = fetch->ckpt->team->rank;
    const sagoi_catalog *catalog = &fetch->overview->catalog;
    for (int64_t w = 0; w < survey->intent->nwriters && !status; w++) {
        const sagoi_writer_desc *writer = &survey->intent->writers[w];
        const sagoi_item *items[2] = {sagoi_catalog_part(catalog, fetch->save, SAGO_LEVEL_LOCAL, w), NULL};
        if (writer->set >= 0)
            items[1] = sagoi_catalog_parity(catalog, fetch->save, writer->set, writer->member);
        if (!fetch->there[w])
            items[0] = NULL;
        for (int64_t i = 0; i < 2; i++) {
            int64_t first = survey->first[2 * w + i], n = survey->first[2 * w + i + 1] - first;
            survey->holder[2 * w + i] = items[i] ? (int)items[i]->holder : -1;
            memset(survey->bad + first, !items[i] || items[i]->holder == me, (size_t)n);
        }
        if (survey->holder[2 * w] == me)
            look_at_data(survey, fetch, w);
        if (survey->holder[2 * w + 1] == me && items[1]->bytes)
            status = look_at_parity(survey, fetch, w, items[1]);
    }
    if (!status)
        sagoi_message_clear();
    return status;
}

/* ---- All together ---- */

/* Bytes of one reduction, far fewer than an int can count. */
enum { AT_ONCE = 1 << 26 };

static sago_status tell_all(const sagoi_survey *survey, sagoi_team *team) {
    int64_t total = survey->first[2 * survey->intent->nwriters];
    sago_status status = SAGO_OK;
    for (int64_t at = 0; at < total; at += AT_ONCE)
        if (!status)
            status = sagoi_allreduce(team, team->own, survey->bad + at, sagoi_min(AT_ONCE, total - at),
                                     MPI_UNSIGNED_CHAR, MPI_MAX);
    return status;
}

static sago_status make_room(sagoi_survey *survey) {
    int64_t n = 2 * survey->intent->nwriters;
    survey->holder = calloc((size_t)n, sizeof *survey->holder);
    survey->first = calloc((size_t)n + 1, sizeof *survey->first);
    for (int64_t i = 0; survey->first && i < n; i++) {
        sagoi_member_file file = {i / 2, i % 2};
        survey->first[i + 1] = survey->first[i] + pieces_of(survey, file);
    }
    survey->bad = survey->first ? malloc((size_t)survey->first[n] + 1) : NULL;
    bool enough = survey->holder && survey->bad;
    return enough ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to look for what is damaged");
}

sago_status sagoi_survey_make(sagoi_survey *survey, sagoi_fetch *fetch) {
    *survey = (sagoi_survey){.intent = &fetch->save->intent};
    sago_status status = sagoi_agree_status(fetch->ckpt->team, make_room(survey));
    if (status)
        return status;
    status = sagoi_agree_status(fetch->ckpt->team, look(survey, fetch));
    if (status)
        return status;
    return sagoi_agree_status(fetch->ckpt->team, tell_all(survey, fetch->ckpt->team));
}

void sagoi_survey_cleanup(sagoi_survey *survey) {
    free(survey->holder);
    free(survey->first);
    free(survey->bad);
    *survey = (sagoi_survey){0};
}
