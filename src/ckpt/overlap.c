#include "ckpt/overlap.h"

#include <string.h>

#include "base/checked.h"
#include "base/device.h"

/* Joins two dimensions if the second follows the first without a gap on both sides. */
static void collapse(sagoi_overlap *region) {
    int64_t last = 0;
    for (int64_t i = 1; i < region->ndims; i++) {
        bool joins = region->stream[last] == region->count[i] * region->stream[i] &&
                     region->memory[last] == region->count[i] * region->memory[i];
        int64_t count = joins ? region->count[last] * region->count[i] : region->count[i];
        last += joins ? 0 : 1;
        region->count[last] = count;
        region->stream[last] = region->stream[i];
        region->memory[last] = region->memory[i];
    }
    region->ndims = last + 1;
}

/* Sets the number of bytes, and the end of the last one. */
static void measure(sagoi_overlap *region) {
    region->bytes = 1;
    region->stream_end = region->stream_off + 1;
    for (int64_t i = 0; i < region->ndims; i++) {
        region->bytes *= region->count[i];
        region->stream_end += (region->count[i] - 1) * region->stream[i];
    }
}

bool sagoi_overlap_make(sagoi_overlap *region, sagoi_cells cells, const sagoi_box *stored, int64_t offset,
                        const sagoi_box *mine) {
    int64_t stream_stride = cells.element, memory_stride = cells.element, n = cells.ndims;
    *region = (sagoi_overlap){.ndims = n, .stream_off = offset};
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t low = sagoi_max(stored->start[i], mine->start[i]);
        int64_t high = sagoi_min(stored->start[i] + stored->count[i], mine->start[i] + mine->count[i]);
        if (low >= high)
            return false;
        region->count[i] = high - low;
        region->stream[i] = stream_stride;
        region->memory[i] = memory_stride;
        region->stream_off += (low - stored->start[i]) * stream_stride;
        region->memory_off += (low - mine->start[i] + mine->mem_start[i]) * memory_stride;
        stream_stride *= stored->count[i];
        memory_stride *= mine->mem_shape[i];
    }
    region->count[n - 1] *= cells.element; /* the elements of a row are its bytes */
    region->stream[n - 1] = region->memory[n - 1] = 1;
    collapse(region);
    measure(region);
    return true;
}

void sagoi_overlap_flat(sagoi_overlap *region, int64_t offset, int64_t bytes) {
    *region = (sagoi_overlap){.ndims = 1, .count = {bytes}, .stream = {1}, .memory = {1}};
    region->stream_off = offset;
    region->stream_end = offset + bytes;
    region->bytes = bytes;
}

/* A row by its number. */
typedef struct row_place {
    int64_t stream, memory;
    int64_t left; /* rows up to the end of the innermost dimension of rows, including this one */
} row_place;

static row_place row_at(const sagoi_overlap *region, int64_t row) {
    row_place place = {region->stream_off, region->memory_off, 1};
    for (int64_t i = region->ndims - 2; i >= 0; i--) {
        int64_t index = row % region->count[i];
        row /= region->count[i];
        place.stream += index * region->stream[i];
        place.memory += index * region->memory[i];
        if (i == region->ndims - 2)
            place.left = region->count[i] - index;
    }
    return place;
}

/* The first row that ends after `from`. */
static int64_t first_row(const sagoi_overlap *region, int64_t rows, int64_t from) {
    int64_t low = 0, high = rows, len = region->count[region->ndims - 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (row_at(region, middle).stream + len > from)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* `device`: whose memory it is; NULL: host memory. */
static sago_status copy_bytes(const sagoi_device *device, char *stream, char *memory, int64_t len,
                              sagoi_direction direction) {
    char *to = direction == SAGOI_TO_FILE ? stream : memory, *from = direction == SAGOI_TO_FILE ? memory : stream;
    if (device)
        return sagoi_device_copy(device, to, from, len, memory);
    memcpy(to, from, (size_t)len);
    return SAGO_OK;
}

/* Rows that follow each other in the stream are copied as one train. */
static void copy_train(const sagoi_overlap *region, char *stream, char *memory, int64_t rows,
                       sagoi_direction direction) {
    sagoi_span span = {
        .count = rows, .len = region->count[region->ndims - 1], .stride = region->memory[region->ndims - 2]};
    sagoi_copy_packed(&span, memory, 0, stream, direction == SAGOI_TO_FILE ? SAGOI_GATHER : SAGOI_SCATTER);
}

sago_status sagoi_overlap_copy(const sagoi_overlap *region, char *stream, int64_t from, int64_t to, char *memory,
                               sagoi_direction direction) {
    int64_t len = region->count[region->ndims - 1];
    if (region->bytes == 0 || to <= region->stream_off || from >= region->stream_end)
        return SAGO_OK;
    int64_t rows = region->bytes / len;
    const sagoi_device *device = sagoi_device_of(memory);
    bool packed = !device && region->ndims > 1 && region->stream[region->ndims - 2] == len;
    for (int64_t row = first_row(region, rows, from); row < rows;) {
        row_place place = row_at(region, row);
        if (place.stream >= to)
            return SAGO_OK;
        int64_t whole = packed && place.stream >= from ? sagoi_min(place.left, (to - place.stream) / len) : 0;
        if (whole > 0) {
            copy_train(region, stream + (place.stream - from), memory + place.memory, whole, direction);
            row += whole;
            continue;
        }
        int64_t low = sagoi_max(place.stream, from), high = sagoi_min(place.stream + len, to);
        sago_status status = copy_bytes(device, stream + (low - from),
                                        memory + place.memory + (low - place.stream), high - low, direction);
        if (status)
            return status;
        row++;
    }
    return SAGO_OK;
}
