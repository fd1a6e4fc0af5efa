/* Records of checkpoints and of the local tier: the first byte says which kind, the rest is the body, sealed here
 * so that the checksum does not stand in the way.  What is accepted is written again byte by byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tier/tier_record.h"
#include "ckpt/generation.h"
#include "ckpt/record.h"

enum { FOUND_FROM = 224 }; /* first bytes that mean the list of older saves */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const sagoi_wire_out *record, sagoi_wire_out *again) {
    if (again->failed || again->len != record->len ||
        memcmp(again->bytes, record->bytes, (size_t)record->len) != 0)
        abort();
    free(again->bytes);
}

/* Of the local tier; a part's blocks are written again one by one. */
static void try_tier(sagoi_record_kind kind, const sagoi_wire_out *record) {
    sagoi_wire_out again = {0}, blocks = {0};
    sagoi_claim claim;
    sagoi_tier_part part;
    if (kind == SAGOI_RECORD_TIER_CLAIM && !sagoi_claim_decode(record->bytes, record->len, &claim)) {
        sagoi_claim_encode(&claim, &again);
        compare(record, &again);
        sagoi_claim_cleanup(&claim);
    } else if (kind == SAGOI_RECORD_TIER_PART && !sagoi_tier_part_decode(record->bytes, record->len, &part)) {
        for (int64_t i = 0; i < part.nblocks; i++)
            sagoi_tier_block_encode(&blocks, &part.blocks[i]);
        (void)sagoi_tier_part_bytes(&part);
        sagoi_tier_part_encode(&part, blocks.bytes, blocks.len, &again);
        compare(record, &again);
        free(blocks.bytes);
        sagoi_tier_part_cleanup(&part);
    }
}

static void try_record(sagoi_record_kind kind, const sagoi_wire_out *record) {
    sagoi_wire_out again = {0};
    sagoi_intent intent;
    sagoi_part part;
    sagoi_parity parity;
    sagoi_found found;
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
    } else if (kind == SAGOI_RECORD_FOUND && !sagoi_found_decode(record->bytes, record->len, &found)) {
        (void)sagoi_found_counts(&found, 1, UINT64_MAX);
        sagoi_found_encode(&found, &again);
        compare(record, &again);
        sagoi_found_cleanup(&found);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sagoi_wire_out record = {0};
    if (size < 1)
        return 0;
    static const sagoi_record_kind kinds[] = {SAGOI_RECORD_INTENT, SAGOI_RECORD_PART, SAGOI_RECORD_PARITY,
                                              SAGOI_RECORD_TIER_CLAIM, SAGOI_RECORD_TIER_PART};
    /* As many as there were when the corpus was begun: it keeps its meaning. */
    sagoi_record_kind kind = data[0] < 128 ? kinds[data[0] % 3] : kinds[3 + data[0] % 2];
    if (data[0] >= FOUND_FROM)
        kind = SAGOI_RECORD_FOUND;
    sagoi_record_begin(&record, kind);
    sagoi_out_bytes(&record, data + 1, (int64_t)size - 1);
    sagoi_record_end(&record);
    if (!record.failed) {
        try_record(kind, &record);
        try_tier(kind, &record);
    }
    free(record.bytes);
    return 0;
}
