/* Composing requests.  Only this file knows how the tiles of a view, the tiles of a memory type and a list of
 * extents become the one kind of extents that all functions below walk. */
#include "engine/compose.h"

#include <string.h>

#include "base/checked.h"
#include "base/device.h"
#include "extent/staging.h"

/* What a request holds, and frees or releases when it is cleaned up; one of these members is set. */
struct sagoi_owned {
    sagoi_pattern *patterns; /* `n` patterns, to be freed by sagoi_layers_free() */
    int64_t n;
    sagoi_type_form *memory; /* or this */
    sagoi_staging *staging;  /* or this */
    sagoi_folded folded;     /* needs no freeing */
    struct sagoi_owned *next;
};

void sagoi_composed_init(sagoi_composed *composed, sagoi_direction direction, sagoi_budget *budget) {
    memset(composed, 0, sizeof *composed);
    composed->request.direction = direction;
    composed->request.limit = SAGOI_NO_LIMIT;
    composed->budget = budget;
}

void sagoi_composed_cleanup(sagoi_composed *composed) {
    for (struct sagoi_owned *at = composed->owned, *next; at; at = next) {
        next = at->next;
        sagoi_layers_free(composed->budget, at->patterns, at->n);
        if (at->memory)
            sagoi_type_form_release(at->memory);
        sagoi_staging_destroy(at->staging);
        sagoi_budget_free(composed->budget, at);
    }
    sagoi_budget_free(composed->budget, composed->listed);
    sagoi_budget_free(composed->budget, composed->streams);
    composed->owned = NULL;
    composed->listed = NULL;
    composed->streams = NULL;
}

static sago_status no_memory(void) { return sagoi_fail(SAGO_ERR_MEMORY, "no memory to describe the request"); }

/* A new member of the list of what the request owns; NULL: there is no memory. */
static struct sagoi_owned *new_owned(sagoi_composed *composed) {
    struct sagoi_owned *owned = sagoi_budget_alloc(composed->budget, sizeof *owned);
    if (!owned)
        return NULL;
    owned->next = composed->owned;
    composed->owned = owned;
    return owned;
}

/* Gives `n` patterns to the request, which frees them, even if this function fails. */
static sago_status own(sagoi_composed *composed, sagoi_pattern *patterns, int64_t n) {
    struct sagoi_owned *owned = new_owned(composed);
    if (!owned) {
        sagoi_layers_free(composed->budget, patterns, n);
        return no_memory();
    }
    owned->patterns = patterns;
    owned->n = n;
    return SAGO_OK;
}

/* A new empty pattern that the request owns. */
static sagoi_pattern *own_pattern(sagoi_composed *composed) {
    sagoi_pattern *pattern = sagoi_budget_alloc(composed->budget, sizeof *pattern);
    if (!pattern)
        return NULL;
    sagoi_pattern_init(pattern, composed->budget);
    return own(composed, pattern, 1) ? NULL : pattern;
}

/* Makes room for one more stream; the first one lies in the struct. */
static bool grow_streams(sagoi_composed *composed) {
    sagoi_request *request = &composed->request;
    int64_t size = sizeof composed->first, old = composed->streams_capacity, larger = old ? 2 * old : 2;
    if (request->nstreams == 0)
        request->streams = &composed->first;
    if (request->nstreams < (old ? old : 1))
        return true;
    sagoi_stream *more = sagoi_budget_realloc(composed->budget, composed->streams, larger * size);
    if (!more)
        return false;
    if (old == 0)
        more[0] = composed->first;
    composed->streams = more;
    composed->streams_capacity = larger;
    request->streams = more;
    return true;
}

static void widen(sagoi_request *request, int64_t low, int64_t high) {
    bool only = request->low == request->high;
    request->low = only ? low : sagoi_min(request->low, low);
    request->high = only ? high : sagoi_max(request->high, high);
}

static sago_status push_stream(sagoi_composed *composed, const sagoi_stream *stream, int64_t low, int64_t high) {
    sagoi_request *request = &composed->request;
    if (!grow_streams(composed))
        return no_memory();
    request->streams[request->nstreams++] = *stream;
    widen(request, low, high);
    return SAGO_OK;
}

/* Are all tiles one train?  They are if every tile is one run, or one train that goes on in the next tile; a train
 * is walked without tiles. */
static bool folds(const sagoi_extents *tiled) {
    const sagoi_piece *piece = tiled->pattern->pieces;
    if (tiled->end <= tiled->pattern->bytes) /* one tile */
        return false;
    if (tiled->pattern->npieces != 1 || tiled->pattern->nloops > 0 || piece->len == 0)
        return false;
    return piece->count == 1 || piece->count * piece->stride == tiled->extent;
}

static sagoi_folded *new_folded(sagoi_composed *composed) {
    if (!composed->has_folded) {
        composed->has_folded = true;
        return &composed->folded;
    }
    struct sagoi_owned *owned = new_owned(composed);
    return owned ? &owned->folded : NULL;
}

/* Replaces tiles that are one train by that train. */
static sago_status simplify(sagoi_composed *composed, sagoi_extents *extents) {
    if (!folds(extents))
        return SAGO_OK;
    sagoi_folded *folded = new_folded(composed);
    if (!folded)
        return no_memory();
    folded->piece = extents->pattern->pieces[0];
    if (folded->piece.count == 1)
        folded->piece.stride = extents->extent;
    folded->piece.count = sagoi_div_up(extents->end, folded->piece.len);
    if (sagoi_pattern_of_train(&folded->train, &folded->piece) ==
        SAGO_OK) /* else the train is longer than a pattern can be, and the tiles stay */
        extents->pattern = &folded->train;
    return SAGO_OK;
}

/* Does the last byte lie past the largest offset?  Of the last tile perhaps only the beginning is accessed. */
static bool overflows(const sagoi_extents *extents) {
    const sagoi_pattern *pattern = extents->pattern;
    int64_t last, end, low;
    if (sagoi_mul((extents->end - 1) / pattern->bytes, extents->extent, &last) ||
        sagoi_add(last, pattern->high, &end) || sagoi_add(last, extents->base, &last))
        return true;
    if (!sagoi_add(sagoi_max(last, extents->base), pattern->high, &end))
        return false;
    if (!sagoi_extents_walkable(extents))
        return true;
    sagoi_extents from_zero = *extents;
    from_zero.base = 0;
    sagoi_extents_bounds(&from_zero, &low, &end);
    return sagoi_add(end, extents->base, &end);
}

/* Adds a stream whose offsets do not ascend: it is sorted, and divided into several streams if runs overlap. */
static sago_status push_sorted(sagoi_composed *composed, const sagoi_stream *stream) {
    sagoi_pattern *layers = NULL;
    sagoi_extents from_zero = stream->file; /* the base stays outside of the pattern */
    int64_t n = 0, base = stream->file.base;
    from_zero.base = 0;
    sago_status status = sagoi_extents_sort(&from_zero, composed->budget, &layers, &n);
    if (!status)
        status = own(composed, layers, n);
    if (!status && n > 1 && composed->request.direction == SAGOI_TO_FILE)
        status = sagoi_fail(SAGO_ERR_EXTENTS, "a write goes to the same bytes of the file twice");
    if (!status && base + layers[0].low < 0)
        status = sagoi_fail(SAGO_ERR_ARG, "the access starts at the negative offset %lld",
                            (long long)(base + layers[0].low));
    for (int64_t i = 0; i < n && !status; i++) {
        sagoi_stream layer = {.memory = stream->memory};
        layer.file =
            (sagoi_extents){.pattern = &layers[i], .base = base, .end = sagoi_extents_bytes(&stream->file)};
        status = push_stream(composed, &layer, base + layers[i].low, base + layers[i].high);
    }
    return status;
}

static sago_status add_stream(sagoi_composed *composed, sagoi_stream *stream) {
    int64_t low, high, bytes = sagoi_extents_bytes(&stream->file);
    if (bytes == 0)
        return SAGO_OK;
    if (overflows(&stream->file))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "the access ends beyond 2^63 - 1 bytes");
    sago_status status = simplify(composed, &stream->file);
    if (status)
        return status;
    composed->bytes += bytes;
    composed->runs += sagoi_extents_runs(&stream->file);
    if (!sagoi_extents_walkable(&stream->file))
        return push_sorted(composed, stream);
    sagoi_extents_bounds(&stream->file, &low, &high);
    if (low < 0)
        return sagoi_fail(SAGO_ERR_ARG, "the access starts at the negative offset %lld", (long long)low);
    return push_stream(composed, stream, low, high);
}

static sago_status no_buffer(int64_t bytes) {
    return sagoi_fail(SAGO_ERR_ARG, "the buffer is NULL but %lld bytes are to be moved", (long long)bytes);
}

/* Does the data begin at no address?  With MPI_BOTTOM the base is NULL, too, but then the pattern holds addresses,
 * none of which lies in the first page. */
static bool is_nowhere(const char *base, const sagoi_pattern *pattern, int64_t bytes) {
    enum { FIRST_PAGE = 4096 }; /* No program has mapped the first page, which begins at NULL. */
    return bytes > 0 && !base && pattern->low < FIRST_PAGE;
}

static sago_status measure_buffer(const sagoi_buffer *buffer, const sagoi_flat *flat, int64_t *bytes) {
    if (sagoi_mul(flat->size, buffer->count, bytes) || *bytes > SAGOI_OFFSET_MAX)
        return sagoi_fail(SAGO_ERR_OVERFLOW, "%lld elements of %lld bytes", (long long)buffer->count,
                          (long long)flat->size);
    return is_nowhere(buffer->base, &flat->pattern, *bytes) ? no_buffer(*bytes) : SAGO_OK;
}

/* Gets the form of the memory type, which the request holds from then on. */
static sago_status hold_memory(sagoi_composed *composed, MPI_Datatype type, const sagoi_flat **flat) {
    struct sagoi_owned *owned = new_owned(composed);
    if (!owned)
        return no_memory();
    sago_status status = sagoi_type_form_get(type, 0, composed->budget, &owned->memory);
    if (!status)
        *flat = &owned->memory->flat;
    return status;
}

/* The layout of a buffer; contiguous memory needs no pattern. */
static sagoi_memory lay_out(const sagoi_buffer *buffer, const sagoi_flat *flat, int64_t bytes) {
    sagoi_memory memory = {.base = buffer->base};
    bool solid = sagoi_pattern_contiguous(&flat->pattern) && (flat->size == flat->extent || buffer->count <= 1);
    if (solid || bytes == 0) /* The base is a number here: with MPI_BOTTOM it is NULL. */
        memory.base = (char *)((uintptr_t)memory.base + (uintptr_t)flat->pattern.low);
    else
        memory.extents = (sagoi_extents){.pattern = &flat->pattern, .extent = flat->extent, .end = bytes};
    return memory;
}

/* Gives memory of a device a staging, which the request owns. */
static sago_status stage_memory(sagoi_composed *composed, sagoi_memory *memory, int64_t bytes) {
    sago_status status = sagoi_staging_add(memory, bytes, composed->budget);
    if (!memory->staging)
        return status;
    struct sagoi_owned *owned = new_owned(composed);
    if (!owned) {
        sagoi_staging_destroy(memory->staging);
        memory->staging = NULL;
        return no_memory();
    }
    owned->staging = memory->staging;
    return SAGO_OK;
}

/* Describes the caller's memory. */
static sago_status describe_memory(sagoi_composed *composed, const sagoi_buffer *buffer, sagoi_memory *memory,
                                   int64_t *bytes) {
    const sagoi_flat plain = {.size = sagoi_plain_size(buffer->type)}, *flat = &plain;
    *memory = (sagoi_memory){.base = buffer->base};
    if (plain.size > 0)
        return measure_buffer(buffer, flat, bytes);
    sago_status status = hold_memory(composed, buffer->type, &flat);
    if (!status)
        status = measure_buffer(buffer, flat, bytes);
    if (status)
        return status;
    *memory = lay_out(buffer, flat, *bytes);
    return memory->extents.pattern ? simplify(composed, &memory->extents) : SAGO_OK;
}

bool sagoi_compose_cached_memory(const sagoi_buffer *buffer, sagoi_memory *memory, int64_t *bytes) {
    const sagoi_type_form *form = NULL;
    int64_t plain = sagoi_look_up(buffer->type, &form);
    if ((plain == 0 && !form) || sagoi_mul(buffer->count, plain ? plain : form->flat.size, bytes) ||
        *bytes > SAGOI_OFFSET_MAX)
        return false;
    *memory = plain ? (sagoi_memory){.base = buffer->base} : lay_out(buffer, &form->flat, *bytes);
    return *bytes == 0 || !sagoi_device_of(sagoi_memory_first(memory));
}

/* The extents of `bytes` bytes of the view from the place on.  Whole tiles before them become part of the base, so
 * that the same shape further on in the view differs in the base only. */
static sago_status place_stream(const sagoi_view_place *place, int64_t bytes, sagoi_extents *file) {
    const sagoi_flat *filetype = &place->view->filetype->flat;
    int64_t end, base;
    if (filetype->size == 0)
        return sagoi_fail(SAGO_ERR_TYPE, "the view's filetype has no bytes to hold %lld", (long long)bytes);
    int64_t tiles = place->begin / filetype->size, passed = tiles * filetype->size;
    if (sagoi_add(place->begin, bytes, &end) || sagoi_mul(tiles, filetype->extent, &base) ||
        sagoi_add(base, place->disp, &base))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "%lld bytes from position %lld of the view lie beyond 2^63 - 1",
                          (long long)bytes, (long long)place->begin);
    *file = (sagoi_extents){.pattern = &filetype->pattern,
                            .base = base,
                            .extent = filetype->extent,
                            .begin = place->begin - passed,
                            .end = end - passed};
    return SAGO_OK;
}

bool sagoi_compose_one_run(const sagoi_view_place *place, int64_t bytes, int64_t *off) {
    sagoi_extents file;
    sagoi_cursor cursor;
    sagoi_span span;
    const sagoi_pattern *pattern = &place->view->filetype->flat.pattern;
    if (pattern->run_count > 1 && bytes >= pattern->bytes)
        return false;
    if (place_stream(place, bytes, &file) || file.end > file.pattern->bytes || !sagoi_extents_walkable(&file))
        return false; /* Data in more than one tile is seldom one run. */
    sagoi_cursor_init(&cursor, &file);
    if (overflows(&file) || !sagoi_cursor_next(&cursor, SAGOI_NO_LIMIT, &span))
        return false;
    sagoi_walk run = sagoi_walk_span(&span);
    *off = span.off;
    return sagoi_walk_run(&run) && run.len >= bytes && span.off >= 0;
}

sago_status sagoi_compose_view(sagoi_composed *composed, const sagoi_view_place *place,
                               const sagoi_buffer *buffer) {
    sagoi_stream stream = {0};
    int64_t bytes;
    sago_status status = describe_memory(composed, buffer, &stream.memory, &bytes);
    if (status || bytes == 0)
        return status;
    status = place_stream(place, bytes, &stream.file);
    if (!status)
        status = stage_memory(composed, &stream.memory, bytes);
    return status ? status : add_stream(composed, &stream);
}

static sago_status check_extent(const sago_extent *extent, int64_t i, int64_t end_before) {
    int64_t end;
    if (extent->offset < 0 || extent->length < 0)
        return sagoi_fail(SAGO_ERR_ARG, "extent %lld has the negative %s %lld", (long long)i,
                          extent->offset < 0 ? "offset" : "length",
                          (long long)(extent->offset < 0 ? extent->offset : extent->length));
    if (sagoi_add(extent->offset, extent->length, &end))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "extent %lld: offset %lld + length %lld", (long long)i,
                          (long long)extent->offset, (long long)extent->length);
    if (extent->offset < end_before)
        return sagoi_fail(SAGO_ERR_EXTENTS, "extent %lld starts at %lld, before the one before it ends (%lld)",
                          (long long)i, (long long)extent->offset, (long long)end_before);
    return SAGO_OK;
}

static sago_status check_extents(int64_t n, const sago_extent extents[], int64_t *bytes) {
    int64_t end = 0;
    *bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        sago_status status = check_extent(&extents[i], i, end);
        if (status)
            return status;
        end = extents[i].length > 0 ? extents[i].offset + extents[i].length : end;
        *bytes += extents[i].length; /* `end` bytes in all at the most */
    }
    return SAGO_OK;
}

/* Makes the pieces of memory, which may be in any order, a pattern of the request, as far as they are valid. */
static sago_status lay_pieces(const sagoi_scatter *scatter, sagoi_pattern *pattern) {
    for (int64_t i = 0; i < scatter->n; i++) {
        const sago_extent *piece = &scatter->pieces[i];
        if (piece->length < 0)
            return sagoi_fail(SAGO_ERR_ARG, "piece %lld of memory has the negative length %lld", (long long)i,
                              (long long)piece->length);
        sagoi_pattern_add(pattern, piece->offset, piece->length);
    }
    return sagoi_pattern_finish(pattern);
}

/* Describes memory in pieces, of `bytes` bytes in all. */
static sago_status scatter_memory(sagoi_composed *composed, const sagoi_scatter *scatter, int64_t bytes,
                                  sagoi_memory *memory) {
    sagoi_pattern *pattern = own_pattern(composed);
    if (!pattern)
        return no_memory();
    sago_status status = lay_pieces(scatter, pattern);
    if (status)
        return status;
    if (pattern->bytes != bytes)
        return sagoi_fail(SAGO_ERR_ARG, "the extents have %lld bytes, the pieces of memory %lld", (long long)bytes,
                          (long long)pattern->bytes);
    if (is_nowhere(scatter->base, pattern, bytes))
        return no_buffer(bytes);
    if (sagoi_pattern_contiguous(pattern)) /* The base is a number here: it may be NULL. */
        memory->base = (char *)((uintptr_t)scatter->base + (uintptr_t)pattern->low);
    else
        memory->extents = (sagoi_extents){.pattern = pattern, .end = bytes};
    return SAGO_OK;
}

/* `bytes` bytes of the memory, from a position of the stream on. */
static sagoi_memory memory_from(const sagoi_memory *memory, int64_t pos, int64_t bytes) {
    sagoi_memory part = *memory;
    if (part.extents.pattern) {
        part.extents.begin = pos;
        part.extents.end = pos + bytes;
    } else {
        part.base = (char *)((uintptr_t)part.base + (uintptr_t)pos);
    }
    return part;
}

/* Adds one stream: `n` extents that were checked already, with their memory from a position of the stream on. */
static sago_status add_list(sagoi_composed *composed, int64_t n, const sago_extent extents[],
                            const sagoi_memory *memory, int64_t pos) {
    sagoi_pattern *pattern = own_pattern(composed);
    if (!pattern)
        return no_memory();
    int64_t first = extents[0].offset; /* the pattern begins here, so that it does not depend on where it lies */
    for (int64_t i = 0; i < n; i++)
        sagoi_pattern_add(pattern, extents[i].offset - first, extents[i].length);
    sago_status status = sagoi_pattern_finish(pattern);
    if (status)
        return status;
    sagoi_stream stream = {.file = {.pattern = pattern, .base = first, .end = pattern->bytes},
                           .memory = memory_from(memory, pos, pattern->bytes)};
    status = stage_memory(composed, &stream.memory, pattern->bytes);
    return status ? status : add_stream(composed, &stream);
}

/* The number of extents, from the first on, that one pattern can hold. */
static int64_t list_together(int64_t n, const sago_extent extents[]) {
    int64_t count = 1;
    while (count < n && extents[count].offset + extents[count].length - extents[0].offset <= SAGOI_OFFSET_MAX)
        count++;
    return count;
}

sago_status sagoi_compose_extents(sagoi_composed *composed, int64_t n, const sago_extent extents[],
                                  const sagoi_scatter *scatter) {
    sagoi_memory memory = {.base = scatter->base};
    int64_t bytes, before = composed->bytes;
    sago_status status = check_extents(n, extents, &bytes);
    if (!status && !scatter->whole)
        status = scatter_memory(composed, scatter, bytes, &memory);
    else if (!status && bytes > 0 && !scatter->base)
        status = no_buffer(bytes);
    for (int64_t i = 0, count; i < n && !status; i += count) {
        count = list_together(n - i, extents + i);
        status = add_list(composed, count, extents + i, &memory, composed->bytes - before);
    }
    return status;
}

static sago_status lay_slabs(const sagoi_block_place *place, sagoi_pattern *runs, sagoi_pattern *cells,
                             sagoi_stream *stream) {
    int64_t first = 0, begin = 0;
    sago_status status = sagoi_pattern_of_slab(runs, &place->file, &first);
    if (!status)
        status = sagoi_pattern_of_slab(cells, &place->memory, &begin);
    if (status)
        return status;
    if (place->offset < 0)
        return sagoi_fail(SAGO_ERR_ARG, "the offset %lld is negative", (long long)place->offset);
    if (sagoi_add(place->offset, first, &stream->file.base))
        return sagoi_fail(SAGO_ERR_OVERFLOW, "offset %lld + %lld", (long long)place->offset, (long long)first);
    if (runs->bytes > 0 && !place->base)
        return no_buffer(runs->bytes);
    stream->file.pattern = runs;
    stream->file.end = runs->bytes;
    stream->memory.base = runs->bytes > 0 ? place->base + begin : place->base;
    if (!sagoi_pattern_contiguous(cells))
        stream->memory.extents = (sagoi_extents){.pattern = cells, .end = cells->bytes};
    return SAGO_OK;
}

sago_status sagoi_compose_block(sagoi_composed *composed, const sagoi_block_place *place) {
    sagoi_pattern *runs = own_pattern(composed), *cells = own_pattern(composed);
    sagoi_stream stream = {0};
    if (!runs || !cells)
        return no_memory();
    sago_status status = lay_slabs(place, runs, cells, &stream);
    if (status || runs->bytes == 0)
        return status;
    status = stage_memory(composed, &stream.memory, runs->bytes);
    return status ? status : add_stream(composed, &stream);
}

/* The fingerprint is relative to the request's first offset, so that it is equal for the same shape elsewhere in
 * the file. */
static sagoi_hash stream_fingerprint(const sagoi_stream *stream, int64_t low, sagoi_hash seed) {
    const sagoi_extents *file = &stream->file;
    const sagoi_hash runs = sagoi_pattern_hash(file->pattern);
    const uint64_t numbers[] = {(uint64_t)file->base - (uint64_t)low,
                                (uint64_t)file->extent,
                                (uint64_t)file->begin,
                                (uint64_t)file->end,
                                runs.low,
                                runs.high};
    return sagoi_hash_bytes(numbers, sizeof numbers, seed);
}

void sagoi_compose_bounds(sagoi_composed *composed) {
    sagoi_request *request = &composed->request;
    int64_t before = -1;
    for (int64_t i = 0; i < request->nstreams; i++) {
        int64_t low, high;
        sagoi_extents_bounds(&request->streams[i].file, &low, &high);
        widen(request, low, high);
        composed->runs -= low == before; /* a run goes on in the next stream */
        before = high;
    }
}

sagoi_hash sagoi_compose_fingerprint(const sagoi_composed *composed, int rank) {
    const sagoi_request *request = &composed->request;
    if (request->nstreams == 0) /* A rank without data has one fingerprint, whatever the other ranks do. */
        return sagoi_hash_int(rank, (sagoi_hash){0, 0});
    sagoi_hash hash = {.low = (uint64_t)rank, .high = 1 + (uint64_t)request->direction};
    for (int64_t i = 0; i < request->nstreams; i++)
        hash = stream_fingerprint(&request->streams[i], request->low, hash);
    return hash;
}

int64_t sagoi_bytes_below(const sagoi_request *request, int64_t end) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < request->nstreams; i++) {
        sagoi_cursor cursor;
        sagoi_span span;
        sagoi_cursor_init(&cursor, &request->streams[i].file);
        while (sagoi_cursor_next(&cursor, end, &span))
            bytes += sagoi_span_bytes(&span);
    }
    return bytes;
}

/* Flattening a type with fewer numbers takes no longer than looking for its form. */
enum { LEAST_CACHED = 64 };

sago_status sagoi_view_make(MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, sagoi_budget *budget,
                            sagoi_view *view) {
    sagoi_type_form *unit;
    memset(view, 0, sizeof *view);
    if (disp < 0)
        return sagoi_fail(SAGO_ERR_ARG, "the view's displacement %lld is negative", (long long)disp);
    sago_status status = sagoi_type_form_get(etype, LEAST_CACHED, budget, &unit);
    if (status)
        return status;
    int64_t unit_size = unit->flat.size;
    sagoi_type_form_release(unit);
    if (unit_size <= 0)
        return sagoi_fail(SAGO_ERR_TYPE, "the view's etype has no bytes");
    status = sagoi_type_form_get(filetype, LEAST_CACHED, budget, &view->filetype);
    if (status)
        return status;
    int64_t size = view->filetype->flat.size;
    if (size % unit_size != 0) {
        sagoi_view_cleanup(view);
        return sagoi_fail(SAGO_ERR_TYPE, "the filetype's %lld bytes are no multiple of the etype's %lld",
                          (long long)size, (long long)unit_size);
    }
    view->budget = budget;
    view->counted = sagoi_type_form_bytes(view->filetype);
    sagoi_budget_count(budget, view->counted);
    view->disp = disp;
    view->etype_size = unit_size;
    view->solid = view->filetype->plain_size > 0;
    return SAGO_OK;
}

void sagoi_view_cleanup(sagoi_view *view) {
    if (view->filetype)
        sagoi_type_form_release(view->filetype);
    if (view->counted > 0)
        sagoi_budget_count(view->budget, -view->counted);
    view->filetype = NULL;
    view->counted = 0;
}
