/* The sources, in this order: this node's own storage, the storage of other nodes (by messages), redundancy on
 * those nodes, the global directory.  The source is chosen for each piece. */
#include "ckpt/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "move/calls.h"
#include "move/collect.h"

enum {
    ASKED_AT_ONCE = 8, /* pieces that a rank asks others for at a time; each has a buffer */
    TAG = 77,
    QUESTION = 2 * sizeof(int64_t) /* bytes of a question: the writer and the piece */
};

/* ---- Parts ---- */

/* The part record of a writer, at any level. */
static sago_status find_part(sagoi_fetch *fetch, int64_t writer) {
    static const sago_level levels[] = {SAGO_LEVEL_LOCAL, SAGO_LEVEL_GLOBAL};
    for (int i = 0; i < 2 && !fetch->there[writer]; i++) {
        const sagoi_item *item = sagoi_catalog_part(&fetch->overview->catalog, fetch->save, levels[i], writer);
        if (!item)
            continue;
        sago_status status = sagoi_part_decode(item->bytes, item->len, &fetch->parts[writer]);
        if (status)
            return status;
        fetch->there[writer] = sagoi_part_fits(&fetch->parts[writer], &fetch->save->intent);
        if (!fetch->there[writer])
            sagoi_part_cleanup(&fetch->parts[writer]);
    }
    return SAGO_OK;
}

sago_status sagoi_fetch_init(sagoi_fetch *fetch) {
    int64_t n = fetch->save->intent.nwriters;
    fetch->source.file.fd = -1;
    fetch->parts = calloc((size_t)n, sizeof *fetch->parts);
    fetch->there = calloc((size_t)n, sizeof *fetch->there);
    fetch->wanted = calloc((size_t)n, sizeof *fetch->wanted);
    fetch->piece = malloc((size_t)fetch->save->intent.piece + 8);
    bool enough = fetch->parts && fetch->there && fetch->wanted && fetch->piece;
    sago_status status = enough ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory to read a checkpoint");
    for (int64_t w = 0; w < n && !status; w++) {
        status = find_part(fetch, w);
        if (status)
            break;
        fetch->wanted[w] = calloc((size_t)fetch->parts[w].nsums + 1, 1);
        if (!fetch->wanted[w])
            status = sagoi_fail(SAGO_ERR_MEMORY, "no memory to read a checkpoint");
    }
    return status;
}

void sagoi_fetch_cleanup(sagoi_fetch *fetch) {
    for (int64_t w = 0; fetch->save && w < fetch->save->intent.nwriters; w++) {
        if (fetch->parts)
            sagoi_part_cleanup(&fetch->parts[w]);
        if (fetch->wanted)
            free(fetch->wanted[w]);
    }
    if (fetch->parts) /* if there are no parts, the file was never initialised either */
        (void)sagoi_cfile_close(&fetch->source.file);
    free(fetch->parts);
    free(fetch->there);
    free(fetch->wanted);
    free(fetch->piece);
    fetch->parts = NULL;
}

void sagoi_fetch_want(sagoi_fetch *fetch, int64_t writer, int64_t from, int64_t to) {
    int64_t piece = fetch->save->intent.piece;
    for (int64_t i = from / piece; i * piece < to; i++)
        fetch->wanted[writer][i] = 1;
}

/* ---- Reading one piece ---- */

sago_status sagoi_fetch_open_data(const sagoi_fetch *fetch, sago_level level, int64_t writer,
                                  sagoi_cfile_mode mode, sagoi_cfile *file) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    const sagoi_intent *intent = &fetch->save->intent;
    if (level == SAGO_LEVEL_GLOBAL)
        sagoi_global_data_name(name, intent->writers[writer].file);
    else
        sagoi_local_data_name(name, writer);
    sago_status status =
        sagoi_save_path(path, sagoi_level_dir(fetch->ckpt, level), intent->step, intent->id, name);
    return status ? status : sagoi_cfile_open(path, mode, file);
}

static sago_status open_source(sagoi_fetch *fetch, sago_level level, int64_t writer) {
    sagoi_source *source = &fetch->source;
    if (source->file.fd >= 0 && source->level == (int64_t)level && source->writer == writer)
        return SAGO_OK;
    (void)sagoi_cfile_close(&source->file);
    source->level = level;
    source->writer = writer;
    return sagoi_fetch_open_data(fetch, level, writer, SAGOI_CFILE_READ, &source->file);
}

static int64_t piece_len(const sagoi_part *part, int64_t piece) {
    return sagoi_min(part->piece, part->bytes - piece * part->piece);
}

static sago_status check_piece(const sagoi_fetch *fetch, int64_t writer, int64_t piece) {
    const sagoi_part *part = &fetch->parts[writer];
    if (sagoi_piece_sum(fetch->piece, piece_len(part, piece)) == part->sums[piece])
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_IO, "piece %lld of writer %lld of step %lld is damaged", (long long)piece,
                      (long long)writer, (long long)fetch->save->step);
}

sago_status sagoi_fetch_piece(sagoi_fetch *fetch, sago_level level, int64_t writer, int64_t piece) {
    const sagoi_part *part = &fetch->parts[writer];
    int64_t base = level == SAGO_LEVEL_GLOBAL ? fetch->save->intent.writers[writer].base : 0;
    int64_t len = piece_len(part, piece), got = 0;
    sago_status status = open_source(fetch, level, writer);
    if (!status)
        status = sagoi_cfile_read(&fetch->source.file, fetch->piece, len, base + piece * part->piece, &got);
    fetch->hung = fetch->hung || status == SAGO_ERR_TIMEOUT;
    if (!status && got < len)
        status = sagoi_fail(SAGO_ERR_IO, "%s is too short", fetch->source.file.path);
    return status ? status : check_piece(fetch, writer, piece);
}

static void deliver(sagoi_fetch *fetch, sago_level level, int64_t writer, int64_t piece) {
    const sagoi_part *part = &fetch->parts[writer];
    int64_t len = piece_len(part, piece);
    fetch->wanted[writer][piece] = 0;
    fetch->report->bytes_from[level] += len;
    fetch->deliver(fetch->arg, writer, piece * part->piece, len, fetch->piece);
}

/* ---- What this rank can read itself ---- */

static bool readable(const sagoi_fetch *fetch, sago_level level, int64_t writer) {
    const sagoi_item *item = sagoi_catalog_part(&fetch->overview->catalog, fetch->save, level, writer);
    return item && (level == SAGO_LEVEL_GLOBAL || item->holder == fetch->ckpt->holder);
}

static void fetch_directly(sagoi_fetch *fetch, sago_level level) {
    for (int64_t w = 0; w < fetch->save->intent.nwriters; w++) {
        if (!fetch->there[w] || !readable(fetch, level, w))
            continue;
        for (int64_t i = 0; i < fetch->parts[w].nsums; i++) {
            if (!fetch->wanted[w][i])
                continue;
            sagoi_poke(fetch->ckpt->team); /* other ranks may ask whether this node is alive while it reads */
            if (sagoi_fetch_piece(fetch, level, w, i))
                fetch->report->damaged[level] += !fetch->again;
            else
                deliver(fetch, level, w, i);
        }
    }
}

/* ---- What other nodes have ---- */

typedef struct question {
    int64_t writer, piece, holder;
} question;

/* Goes through everything that is wanted once; a piece that its holder could not give is not asked for again. */
typedef struct asking {
    int64_t writer, piece; /* where to go on */
    question asked[ASKED_AT_ONCE];
    char *answers[ASKED_AT_ONCE]; /* 8 bytes of status, then the piece */
    MPI_Request requests[ASKED_AT_ONCE];
    int n;
    int *to, *from; /* bytes of questions to and from each rank, QUESTION each */
    int64_t *in, *sorted;
    int *out_at, *in_at; /* bytes */
    char *message;       /* an answer to another rank */
} asking;

static void next_questions(const sagoi_fetch *fetch, asking *ask) {
    ask->n = 0;
    for (; ask->writer < fetch->save->intent.nwriters; ask->writer++, ask->piece = 0) {
        const sagoi_item *item =
            sagoi_catalog_part(&fetch->overview->catalog, fetch->save, SAGO_LEVEL_LOCAL, ask->writer);
        if (!fetch->there[ask->writer] || !item || item->holder == fetch->ckpt->holder)
            continue;
        for (; ask->piece < fetch->parts[ask->writer].nsums; ask->piece++) {
            if (!fetch->wanted[ask->writer][ask->piece])
                continue;
            if (ask->n == ASKED_AT_ONCE)
                return;
            ask->asked[ask->n++] = (question){ask->writer, ask->piece, item->holder};
        }
    }
}

/* Tells every holder which pieces are wanted of it. */
static sago_status send_questions(sagoi_team *team, asking *ask) {
    int out = 0, in = 0;
    memset(ask->to, 0, (size_t)team->size * sizeof *ask->to);
    for (int i = 0; i < ask->n; i++)
        ask->to[ask->asked[i].holder] += QUESTION;
    sago_status status = sagoi_alltoall(team, team->own, ask->to, sizeof *ask->to, ask->from);
    if (status)
        return status;
    for (int r = 0; r < team->size; r++) {
        ask->out_at[r] = out * (int)sizeof *ask->sorted;
        ask->in_at[r] = in;
        for (int i = 0; i < ask->n; i++)
            if (ask->asked[i].holder == r) {
                ask->sorted[out++] = ask->asked[i].writer;
                ask->sorted[out++] = ask->asked[i].piece;
            }
        in += ask->from[r];
    }
    sagoi_parts to = {ask->sorted, ask->to, ask->out_at}, from = {ask->in, ask->from, ask->in_at};
    return sagoi_alltoall_parts(team, team->own, &to, &from);
}

/* Questions come from other ranks of the same program, but the pieces that exist are written in files, so they are
 * checked. */
static bool sensible(const sagoi_fetch *fetch, int64_t writer, int64_t piece) {
    return writer >= 0 && writer < fetch->save->intent.nwriters && fetch->there[writer] && piece >= 0 &&
           piece < fetch->parts[writer].nsums;
}

static sago_status answer(sagoi_fetch *fetch, const asking *ask, int to, const int64_t asked[2]) {
    sagoi_team *team = fetch->ckpt->team;
    int64_t writer = asked[0], piece = asked[1], len = 0;
    int64_t failed =
        !sensible(fetch, writer, piece) || sagoi_fetch_piece(fetch, SAGO_LEVEL_LOCAL, writer, piece) != SAGO_OK;
    memcpy(ask->message, &failed, sizeof failed);
    if (!failed) {
        len = piece_len(&fetch->parts[writer], piece);
        memcpy(ask->message + 8, fetch->piece, (size_t)len);
    }
    MPI_Request request;
    sagoi_message_to message = {team->own, to, TAG, ask->message, len + 8};
    sago_status status = sagoi_start_send(team, &message, &request);
    return status ? status : sagoi_finish_messages(team, 1, &request);
}

static sago_status answer_all(sagoi_fetch *fetch, const asking *ask) {
    sago_status status = SAGO_OK;
    for (int r = 0; r < fetch->ckpt->team->size && !status; r++)
        for (int at = 0; at < ask->from[r] && !status; at += QUESTION)
            status = answer(fetch, ask, r, ask->in + (ask->in_at[r] + at) / (int)sizeof *ask->in);
    return status;
}

static sago_status take_answers(sagoi_fetch *fetch, asking *ask) {
    sago_status status = sagoi_finish_messages(fetch->ckpt->team, ask->n, ask->requests);
    if (status)
        return status;
    for (int i = 0; i < ask->n; i++) {
        const question *asked = &ask->asked[i];
        int64_t failed;
        memcpy(&failed, ask->answers[i], sizeof failed);
        if (!failed)
            memcpy(fetch->piece, ask->answers[i] + 8,
                   (size_t)piece_len(&fetch->parts[asked->writer], asked->piece));
        if (failed || check_piece(fetch, asked->writer, asked->piece))
            fetch->report->damaged[SAGO_LEVEL_LOCAL] += !fetch->again;
        else
            deliver(fetch, SAGO_LEVEL_LOCAL, asked->writer, asked->piece);
    }
    return SAGO_OK;
}

static sago_status ask_round(sagoi_fetch *fetch, asking *ask) {
    sagoi_team *team = fetch->ckpt->team;
    sago_status status = send_questions(team, ask);
    for (int i = 0; i < ask->n && !status; i++) {
        sagoi_message_to message = {team->own, (int)ask->asked[i].holder, TAG, ask->answers[i],
                                    fetch->save->intent.piece + 8};
        status = sagoi_start_receive(team, &message, &ask->requests[i]);
    }
    if (!status)
        status = answer_all(fetch, ask);
    return status ? status : take_answers(fetch, ask);
}

static sago_status asking_init(asking *ask, const sagoi_fetch *fetch) {
    size_t ranks = (size_t)fetch->ckpt->team->size;
    ask->to = calloc(4 * ranks, sizeof *ask->to);
    ask->sorted = calloc(2 * ASKED_AT_ONCE, sizeof *ask->sorted);
    ask->in = calloc(2 * ASKED_AT_ONCE * ranks, sizeof *ask->in); /* as much as all ranks can ask at a time */
    ask->message = malloc((size_t)fetch->save->intent.piece + 8);
    bool enough = ask->to && ask->sorted && ask->in && ask->message;
    for (int i = 0; i < ASKED_AT_ONCE; i++) {
        ask->answers[i] = malloc((size_t)fetch->save->intent.piece + 8);
        enough = enough && ask->answers[i];
    }
    if (!enough)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to ask other ranks");
    ask->from = ask->to + ranks;
    ask->out_at = ask->from + ranks;
    ask->in_at = ask->out_at + ranks;
    return SAGO_OK;
}

static void asking_cleanup(asking *ask, const sagoi_team *team) {
    for (int i = 0; i < ASKED_AT_ONCE; i++)
        sagoi_free_received(team, ask->answers[i]);
    sagoi_free_received(team, ask->to);
    sagoi_free_received(team, ask->message);
    free(ask->sorted);
    free(ask->in);
}

static sago_status fetch_from_nodes(sagoi_fetch *fetch) {
    sagoi_team *team = fetch->ckpt->team;
    asking ask = {0};
    sago_status status = sagoi_agree_status(team, asking_init(&ask, fetch));
    while (!status) {
        sagoi_agreement more = {0};
        next_questions(fetch, &ask);
        more.max[0] = ask.n > 0;
        status = sagoi_agree(team, &more, NULL, NULL, NULL);
        if (status || !more.max[0])
            break;
        status = sagoi_agree_status(team, ask_round(fetch, &ask));
    }
    asking_cleanup(&ask, team);
    return status;
}

/* ---- All together ---- */

static sago_status check_all_there(const sagoi_fetch *fetch) {
    for (int64_t w = 0; w < fetch->save->intent.nwriters; w++)
        for (int64_t i = 0; i < fetch->parts[w].nsums; i++)
            if (fetch->wanted[w][i])
                return sagoi_fail(fetch->hung ? SAGO_ERR_TIMEOUT : SAGO_ERR_IO,
                                  "step %lld: piece %lld of writer %lld of %lld is nowhere intact: %lld damaged "
                                  "on the nodes, %lld in the directory",
                                  (long long)fetch->save->step, (long long)i, (long long)w,
                                  (long long)fetch->save->intent.nwriters,
                                  (long long)fetch->report->damaged[SAGO_LEVEL_LOCAL],
                                  (long long)fetch->report->damaged[SAGO_LEVEL_GLOBAL]);
    return SAGO_OK;
}

/* Is anything wanted that should be on the nodes? */
static bool damage_was_found(const sagoi_fetch *fetch) {
    for (int64_t w = 0; w < fetch->save->intent.nwriters; w++)
        if (memchr(fetch->wanted[w], 1, (size_t)fetch->parts[w].nsums) &&
            sagoi_catalog_part(&fetch->overview->catalog, fetch->save, SAGO_LEVEL_LOCAL, w))
            return true;
    return false;
}

static sago_status fetch_local(sagoi_fetch *fetch) {
    if (fetch->ckpt->local[0])
        fetch_directly(fetch, SAGO_LEVEL_LOCAL);
    return fetch->ckpt->domains > 1 ? fetch_from_nodes(fetch) : SAGO_OK;
}

/* Gets what the nodes do not have intact, if redundancy brings it back. */
static sago_status fetch_mended(sagoi_fetch *fetch) {
    sagoi_agreement left = {.max = {damage_was_found(fetch)}};
    if (fetch->save->intent.parity == 0)
        return SAGO_OK;
    sago_status status = sagoi_agree(fetch->ckpt->team, &left, NULL, NULL, NULL);
    if (status || left.max[0] == 0)
        return status;
    (void)sagoi_cfile_close(&fetch->source.file);
    status = sagoi_mend(fetch->ckpt, fetch->save->step, fetch->save->id_low, SAGOI_MEND_DAMAGED);
    fetch->again = true;
    if (!status)
        status = fetch_local(fetch);
    fetch->again = false;
    return status;
}

sago_status sagoi_fetch_run(sagoi_fetch *fetch) {
    sago_status status = fetch_local(fetch);
    if (!status)
        status = fetch_mended(fetch);
    if (!status)
        fetch_directly(fetch, SAGO_LEVEL_GLOBAL);
    sagoi_message_clear();
    return sagoi_agree_status(fetch->ckpt->team, status ? status : check_all_there(fetch));
}
