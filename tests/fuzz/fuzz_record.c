/* Records of checkpoints: the first byte says which kind, the rest is the body, sealed here so that the checksum
 * does not stand in the way.  What is accepted is written again byte by byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const sagoi_wire_out *record, sagoi_wire_out *again) {
    if (again->failed || again->len != record->len ||
        memcmp(again->bytes, record->bytes, (size_t)record->len) != 0)
        abort();
    free(again->bytes);
}

static void try_record(sagoi_record_kind kind, const sagoi_wire_out *record) {
    sagoi_wire_out again = {0};
    sagoi_intent intent;
    sagoi_part part;
    sagoi_parity parity;
    if (kind == SAGOI_RECORD_INTENT && !sagoi_intent_decode(record->bytes, record->len, &intent)) {
        sagoi_intent_encode(&intent, &again);
        compare(record, &again);
        sagoi_intent_cleanup(&intent);
    } else if (kind == SAGOI_RECORD_PART && !sagoi_part_decode(record->bytes, record->len, &part)) {
        sagoi_part_encode(&part, &again);
        compare(record, &again);
        sagoi_part_cleanup(&part);
    } else if (kind == SAGOI_RECORD_PARITY && !sagoi_parity_decode(record->bytes, record->len, &parity)) {
        sagoi_parity_encode(&parity, &again);
        compare(record, &again);
        sagoi_parity_cleanup(&parity);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sagoi_wire_out record = {0};
    if (size < 1)
        return 0;
    sagoi_record_kind kind = (sagoi_record_kind)(SAGOI_RECORD_INTENT + data[0] % 3);
    sagoi_record_begin(&record, kind);
    sagoi_out_bytes(&record, data + 1, (int64_t)size - 1);
    sagoi_record_end(&record);
    if (!record.failed)
        try_record(kind, &record);
    free(record.bytes);
    return 0;
}
