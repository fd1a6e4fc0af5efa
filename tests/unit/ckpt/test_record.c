/* Records: there and back, every flipped bit and every cut noticed, nothing believed that cannot be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/record.h"
#include "support/unit.h"

static sagoi_wire_out intent_with(const char *name, const char *type) {
    sagoi_array_desc arrays[2] = {
        {.kind = SAGO_CKPT_ARRAY, .element = 8, .ndims = 3, .global = {4, 5, 6}},
        {.name = "rng", .type = "opaque", .kind = SAGO_CKPT_LOCAL, .element = 1, .bytes = 77}};
    sagoi_writer_desc writers[3] = {{.bytes = 400, .set = 0},
                                    {.bytes = 500, .file = 1, .set = 0, .member = 1},
                                    {.bytes = 137, .file = 1, .base = 4096, .set = -1}};
    sagoi_intent intent = {
        .id = {1, 2}, .directory = {3, 4}, .step = 100, .time = 5, .ranks = 6, .nodes = 3, .files = 2};
    sagoi_wire_out out = {0};
    (void)snprintf(arrays[0].name, sizeof arrays[0].name, "%s", name);
    (void)snprintf(arrays[0].type, sizeof arrays[0].type, "%s", type);
    arrays[0].bytes = 4 * 5 * 6 * 8;
    intent.piece = 65536;
    intent.data = 1, intent.parity = 1;
    intent.narrays = 2, intent.nwriters = 3;
    intent.arrays = arrays, intent.writers = writers;
    sagoi_intent_encode(&intent, &out);
    return out;
}

static sagoi_wire_out intent_bytes(void) { return intent_with("field", "float64"); }

static sagoi_wire_out part_bytes(void) {
    uint64_t sums[2] = {0x1234567890abcdef, 42};
    sagoi_stored_block blocks[2] = {
        {.array = 0, .rank = 1, .ndims = 3, .start = {1, 0, 0}, .count = {1, 2, 25}, .bytes = 400},
        {.array = 1, .rank = 1, .offset = 400, .bytes = 100}};
    sagoi_part part = {
        .id = {1, 2}, .step = 100, .writer = 1, .bytes = 500, .piece = 512, .nsums = 1, .nblocks = 2};
    sagoi_wire_out out = {0};
    part.sums = sums, part.blocks = blocks;
    sagoi_part_encode(&part, &out);
    return out;
}

static sagoi_wire_out parity_bytes(void) {
    uint64_t sums[1] = {99};
    char one[] = "part of one", two[] = "part of two";
    sagoi_parity_member members[2] = {{0, sizeof one, one}, {1, sizeof two, two}};
    sagoi_parity parity = {
        .id = {1, 2}, .step = 100, .member = 1, .data = 1, .parity = 1, .chunk = 500, .piece = 512};
    sagoi_wire_out out = {0};
    parity.nsums = 1, parity.nmembers = 2;
    parity.sums = sums, parity.members = members;
    sagoi_parity_encode(&parity, &out);
    return out;
}

static sago_status decode(sagoi_record_kind kind, const char *bytes, int64_t len) {
    sago_status status;
    sagoi_intent intent;
    sagoi_part part;
    sagoi_parity parity;
    switch (kind) {
    case SAGOI_RECORD_INTENT:
        status = sagoi_intent_decode(bytes, len, &intent);
        sagoi_intent_cleanup(&intent);
        return status;
    case SAGOI_RECORD_PART:
        status = sagoi_part_decode(bytes, len, &part);
        sagoi_part_cleanup(&part);
        return status;
    default:
        status = sagoi_parity_decode(bytes, len, &parity);
        sagoi_parity_cleanup(&parity);
        return status;
    }
}

typedef struct sample {
    sagoi_record_kind kind;
    sagoi_wire_out (*make)(void);
} sample;

static const sample samples[] = {
    {SAGOI_RECORD_INTENT, intent_bytes}, {SAGOI_RECORD_PART, part_bytes}, {SAGOI_RECORD_PARITY, parity_bytes}};

static void there_and_back(void **state) {
    sagoi_intent intent;
    sagoi_part part;
    sagoi_wire_out out = intent_bytes();
    assert_int_equal(sagoi_intent_decode(out.bytes, out.len, &intent), SAGO_OK);
    assert_string_equal(intent.arrays[0].name, "field");
    assert_int_equal(intent.arrays[0].global[2], 6);
    assert_int_equal(intent.writers[2].base, 4096);
    assert_int_equal(sagoi_intent_bytes(&intent), 1037);
    free(out.bytes);
    out = part_bytes();
    assert_int_equal(sagoi_part_decode(out.bytes, out.len, &part), SAGO_OK);
    assert_int_equal(part.blocks[0].count[2], 25);
    assert_false(sagoi_part_fits(&part, &intent)); /* a block beyond the array, another piece */
    free(out.bytes);
    sagoi_part_cleanup(&part);
    sagoi_intent_cleanup(&intent);
}

static void every_bit_counts(void **state) {
    for (int i = 0; i < 3; i++) {
        sagoi_wire_out out = samples[i].make();
        assert_int_equal(decode(samples[i].kind, out.bytes, out.len), SAGO_OK);
        for (int64_t bit = 0; bit < 8 * out.len; bit++) {
            out.bytes[bit / 8] ^= (char)(1 << bit % 8);
            assert_int_not_equal(decode(samples[i].kind, out.bytes, out.len), SAGO_OK);
            out.bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        for (int64_t byte = 0; byte < out.len; byte++) {
            char was = out.bytes[byte];
            out.bytes[byte] = (char)~was;
            assert_int_not_equal(decode(samples[i].kind, out.bytes, out.len), SAGO_OK);
            out.bytes[byte] = was;
        }
        for (int64_t len = 0; len < out.len; len++)
            assert_int_not_equal(decode(samples[i].kind, out.bytes, len), SAGO_OK);
        free(out.bytes);
    }
}

/* Seals whatever is in the body: what follows must not rely on the checksum alone. */
static void reseal(sagoi_wire_out *out) {
    out->len -= 16;
    sagoi_record_end(out);
}

static void sealed_nonsense(void **state) {
    uint64_t random = 99;
    for (int i = 0; i < 3; i++)
        for (int round = 0; round < 3000; round++) {
            sagoi_wire_out out = samples[i].make();
            for (int k = 0; k < 1 + round % 4; k++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                int64_t at = 24 + (int64_t)((random >> 33) % (uint64_t)(out.len - 40));
                out.bytes[at] = round % 2 ? (char)(random >> 20) : (char)0xff;
            }
            reseal(&out);
            (void)decode(samples[i].kind, out.bytes, out.len); /* must neither crash nor allocate the moon */
            free(out.bytes);
        }
}

static void newer_versions(void **state) {
    for (int i = 0; i < 3; i++) {
        sagoi_wire_out out = samples[i].make();
        out.bytes[12]++;
        assert_int_equal(decode(samples[i].kind, out.bytes, out.len), SAGO_ERR_IO); /* damaged */
        reseal(&out);
        assert_int_equal(decode(samples[i].kind, out.bytes, out.len), SAGO_ERR_UNSUPPORTED);
        free(out.bytes);
    }
}

/* Somebody has swapped files: that is damage, whatever the version of the other kind. */
static void other_kinds(void **state) {
    for (int i = 0; i < 3; i++) {
        sagoi_wire_out out = {0};
        sagoi_record_begin(&out, SAGOI_RECORD_LEASE); /* of version 2 */
        sagoi_record_end(&out);
        assert_int_equal(decode(samples[i].kind, out.bytes, out.len), SAGO_ERR_IO);
        free(out.bytes);
    }
}

/* What nobody would read again is not written. */
static void too_long(void **state) {
    sagoi_wire_out out = {0};
    sagoi_record_begin(&out, SAGOI_RECORD_PART);
    out.len = SAGOI_RECORD_MOST; /* there are not so many bytes */
    sagoi_record_end(&out);
    assert_true(out.failed);
    free(out.bytes);
}

static void names(void **state) {
    char name[SAGOI_CKPT_FILE_NAME];
    int64_t step, writer, set, member;
    uint64_t id;
    sagoi_folder_kind kind;
    sagoi_save_folder(name, 1234567890123, (sagoi_id){0xabc, 1});
    assert_true(sagoi_save_folder_parse(name, &kind, &step, &id) && kind == SAGOI_FOLDER_STEP);
    assert_true(step == 1234567890123 && id == 0xabc);
    for (int i = SAGOI_FOLDER_STEP; i <= SAGOI_FOLDER_REMOVED; i++) {
        sagoi_save_folder_as(name, (sagoi_folder_kind)i, 5, 6);
        assert_true(sagoi_save_folder_parse(name, &kind, &step, &id));
        assert_true((int)kind == i && step == 5 && id == 6);
    }
    assert_false(sagoi_save_folder_parse("step-1-2", &kind, &step, &id));
    assert_false(sagoi_save_folder_parse("damaged-", &kind, &step, &id));
    assert_false(sagoi_save_folder_parse("step-0000000000000000001-00000000000000ABC", &kind, &step, &id));
    sagoi_begun_name(name, 17);
    assert_true(sagoi_writer_name_parse(name, sagoi_begun_name, &writer) && writer == 17);
    assert_false(sagoi_writer_name_parse(name, sagoi_part_name, &writer));
    sagoi_part_name(name, 17);
    assert_true(sagoi_writer_name_parse(name, sagoi_part_name, &writer) && writer == 17);
    assert_false(sagoi_writer_name_parse("writer-000017.part.0123.aside", sagoi_part_name, &writer));
    sagoi_parity_name(name, 3, 4);
    assert_true(sagoi_parity_name_parse(name, &set, &member) && set == 3 && member == 4);
}

/* Somebody else's directory may say anything: what is printed, or gets into a file name, is looked at. */
static void hostile_names(void **state) {
    static const char *const pairs[][2] = {
        {"../field", "float64"}, {"a\033[31m", "float64"}, {"", "float64"}, {"field", "a\nb"}, {"field", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        sagoi_wire_out out = intent_with(pairs[i][0], pairs[i][1]);
        assert_int_equal(decode(SAGOI_RECORD_INTENT, out.bytes, out.len), SAGO_ERR_IO);
        free(out.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back),  cmocka_unit_test(every_bit_counts),
                                       cmocka_unit_test(sealed_nonsense), cmocka_unit_test(newer_versions),
                                       cmocka_unit_test(other_kinds),     cmocka_unit_test(too_long),
                                       cmocka_unit_test(names),           cmocka_unit_test(hostile_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
