/* Stripes from the extended attributes of file systems, built here by hand from their documented formats, and cut,
 * bent and mixed up. */
/* cmocka wants these four first */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/stripes.h"
#include "support/unit.h"

enum { MIB = 1 << 20, V1 = 0x0bd10bd0, V3 = 0x0bd30bd0, COMPOSITE = 0x0bd60bd0, RAID0 = 1, ON_MDT = 0x100 };

#define ASSERT_STRIPES(is, wanted_unit, wanted_count)                                                             \
    do {                                                                                                          \
        sagoi_stripes found = (is);                                                                               \
        assert_int_equal(found.unit, (wanted_unit));                                                              \
        assert_int_equal(found.count, (wanted_count));                                                            \
    } while (0)

/* ---- Lustre ---- */

typedef struct blob {
    char bytes[1024];
    int64_t length;
} blob;

static void put(blob *b, const void *value, size_t size) {
    memcpy(b->bytes + b->length, value, size);
    b->length += (int64_t)size;
}
static void put16(blob *b, uint16_t value) { put(b, &value, sizeof value); }
static void put32(blob *b, uint32_t value) { put(b, &value, sizeof value); }
static void put64(blob *b, uint64_t value) { put(b, &value, sizeof value); }

/* magic, pattern, object id of two words, stripe size, count, first target, (v3: pool of 16), objects of 24 bytes
 */
static void put_plain(blob *b, uint32_t magic, uint32_t pattern, uint32_t unit, int count, int objects) {
    put32(b, magic);
    put32(b, pattern);
    put64(b, 0x1234);
    put64(b, 0);
    put32(b, unit);
    put16(b, (uint16_t)count);
    put16(b, 0);
    if (magic == V3)
        put(b, "flash\0\0\0\0\0\0\0\0\0\0", 16);
    for (int i = 0; i < objects; i++) {
        put64(b, (uint64_t)i + 77);
        put64(b, 0);
        put32(b, 0);
        put32(b, (uint32_t)i * 3);
    }
}

static sagoi_stripes read_lustre(const blob *b) { return sagoi_stripes_of_lustre(b->bytes, b->length); }

static void test_lustre_plain(void **state) {
    blob v1 = {.length = 0}, v3 = {.length = 0};
    put_plain(&v1, V1, RAID0, MIB, 4, 4);
    put_plain(&v3, V3, RAID0, 16 * MIB, 48, 12);
    ASSERT_STRIPES(read_lustre(&v1), MIB, 4);
    ASSERT_STRIPES(read_lustre(&v3), 16 * MIB, 48);
    for (int64_t length = 0; length < 32; length++)
        ASSERT_STRIPES(sagoi_stripes_of_lustre(v1.bytes, length), 0, 0);
    ASSERT_STRIPES(sagoi_stripes_of_lustre(NULL, 100), 0, 0);
}

/* The targets of a file's objects, one after another. */
static blob put_objects(uint32_t magic, int count, uint32_t first, uint32_t step) {
    blob b = {.length = 0};
    put_plain(&b, magic, RAID0, MIB, count, 0);
    for (int i = 0; i < count; i++) {
        put64(&b, 77);
        put64(&b, 0);
        put32(&b, 0);
        put32(&b, first + (uint32_t)i * step);
    }
    return b;
}

static void test_lustre_targets(void **state) {
    static const struct {
        uint32_t magic;
        int count;
        uint32_t first, step;
        int64_t found; /* plus 1 */
    } files[] = {{V1, 4, 0, 1, 1},           {V1, 4, 17, 1, 18},     {V3, 8, 3, 1, 4},
                 {V1, 1, 5, 1, 6},           {V1, 4, 17, 2, 0},      {V1, 4, 17, 0, 0},
                 {V1, 4, 0xffffffff, 1, 0},  {V1, 2, 0x10000, 1, 0}, {V1, 2, 0xffff, 1, 0},
                 {V3, 1, 0xffff, 1, 0x10000}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        blob b = put_objects(files[i].magic, files[i].count, files[i].first, files[i].step);
        assert_int_equal(sagoi_stripes_first_of_lustre(b.bytes, b.length), files[i].found);
        for (int64_t cut = 0; cut < b.length; cut++) /* an object is missing */
            assert_int_equal(sagoi_stripes_first_of_lustre(b.bytes, cut), 0);
    }
    blob all = {.length = 0};
    put_plain(&all, V1, RAID0, MIB, 0xffff, 0);
    assert_int_equal(sagoi_stripes_first_of_lustre(all.bytes, all.length), 0);
    assert_int_equal(sagoi_stripes_first_of_lustre(NULL, 100), 0);
}

static void test_lustre_strange(void **state) {
    static const struct {
        uint32_t magic, pattern, unit;
        int count;
    } strange[] = {{0x12345678, RAID0, MIB, 4}, {V1, ON_MDT, MIB, 4}, {V1, 0, MIB, 4},       {V1, RAID0, 0, 4},
                   {V1, RAID0, 1000, 4},        {V1, 0x400, MIB, 4},  {V1, RAID0, MIB, 2001}};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        blob b = {.length = 0};
        put_plain(&b, strange[i].magic, strange[i].pattern, strange[i].unit, strange[i].count, 0);
        ASSERT_STRIPES(read_lustre(&b), 0, 0);
    }
    blob all = {.length = 0}, over = {.length = 0}, released = {.length = 0};
    put_plain(&all, V1, RAID0, MIB, 0xffff, 0); /* over all targets, however many there are */
    put_plain(&over, V1, 0x201, MIB, 8, 8);     /* several stripes a target */
    put_plain(&released, V1, 0x80000000u | RAID0, MIB, 8, 0);
    ASSERT_STRIPES(read_lustre(&all), MIB, 0);
    ASSERT_STRIPES(read_lustre(&over), MIB, 8);
    ASSERT_STRIPES(read_lustre(&released), MIB, 8);
}

typedef struct part {
    uint32_t id, flags;
    uint64_t start, end;
    uint32_t pattern, unit;
    int count;
} part;

static void put_composite(blob *b, const part parts[], int n) {
    put32(b, COMPOSITE);
    put32(b, (uint32_t)(32 + n * (48 + 32)));
    put32(b, 1);
    put16(b, 0);
    put16(b, (uint16_t)n);
    put64(b, 0);
    put64(b, 0);
    for (int i = 0; i < n; i++) {
        put32(b, parts[i].id);
        put32(b, parts[i].flags);
        put64(b, parts[i].start);
        put64(b, parts[i].end);
        put32(b, (uint32_t)(32 + n * 48 + i * 32));
        put32(b, 32);
        put32(b, 1);
        put64(b, 0);
        put32(b, 0);
    }
    for (int i = 0; i < n; i++)
        put_plain(b, V1, parts[i].pattern, parts[i].unit, parts[i].count, 0);
}

enum { MADE = 0x10, STALE = 0x1 };

static void test_lustre_composite(void **state) {
    const part parts[] = {{0x10001, MADE, 0, MIB, ON_MDT, MIB, 0},
                          {0x10002, MADE, MIB, 256 * MIB, RAID0, MIB, 4},
                          {0x10003, 0, 256 * MIB, UINT64_MAX, RAID0, 4 * MIB, 32}};
    blob b = {.length = 0};
    put_composite(&b, parts, 3);
    ASSERT_STRIPES(read_lustre(&b), 4 * MIB, 32); /* where most of a large file is */
    const part all[] = {{1, MADE, 0, MIB, RAID0, MIB, 6}, {2, 0, MIB, UINT64_MAX, RAID0, 2 * MIB, 0xffff}};
    blob wide = {.length = 0};
    put_composite(&wide, all, 2);
    ASSERT_STRIPES(read_lustre(&wide), 2 * MIB, 6); /* as far as one knows */
    const part mirrors[] = {{0x10001, MADE | STALE, 0, UINT64_MAX, RAID0, MIB, 2},
                            {0x20002, MADE, 0, UINT64_MAX, RAID0, 2 * MIB, 4},
                            {0x30003, MADE, 0, UINT64_MAX, RAID0, 4 * MIB, 8}};
    blob mirrored = {.length = 0};
    put_composite(&mirrored, mirrors, 3);
    ASSERT_STRIPES(read_lustre(&mirrored), 2 * MIB, 4);
}

/* Every cut and every bent byte: any answer, but from inside the blob (the sanitizers watch), and a sane one. */
static void test_lustre_hostile(void **state) {
    const part parts[] = {{1, MADE, 0, MIB, RAID0, MIB, 4}, {2, MADE, MIB, UINT64_MAX, RAID0, MIB, 8}};
    blob b = {.length = 0};
    put_composite(&b, parts, 2);
    for (int64_t length = 0; length <= b.length; length++) {
        char *exact = malloc((size_t)length + 1);
        memcpy(exact, b.bytes, (size_t)length);
        for (int64_t at = 0; at < length; at++)
            for (int bend = 0; bend < 3; bend++) {
                char before = exact[at];
                exact[at] = (char)(bend == 0 ? 0xff : bend == 1 ? 0 : before + 1);
                sagoi_stripes found = sagoi_stripes_of_lustre(exact, length);
                assert_true(found.unit >= 0 && found.count >= 0 && found.count <= 2000);
                exact[at] = before;
            }
        free(exact);
    }
}

static void test_lustre_wish(void **state) {
    char value[SAGOI_STRIPES_VALUE_MAX];
    int64_t bytes = sagoi_stripes_to_lustre((sagoi_stripes){4 * MIB, 12}, value);
    assert_int_equal(bytes, 32);
    ASSERT_STRIPES(sagoi_stripes_of_lustre(value, bytes), 4 * MIB, 12);
    assert_memory_equal(value + 30, "\xff\xff", 2); /* any first target */
    assert_int_equal(sagoi_stripes_to_lustre((sagoi_stripes){1000, 12}, value), 0);
    assert_int_equal(sagoi_stripes_to_lustre((sagoi_stripes){MIB, 5000}, value), 0);
    assert_int_equal(sagoi_stripes_to_lustre((sagoi_stripes){0, 0}, value), 0);
    assert_int_equal(sagoi_stripes_to_lustre((sagoi_stripes){0, 7}, value), 32);
}

/* ---- Ceph ---- */

static sagoi_stripes read_ceph(const char *text) { return sagoi_stripes_of_ceph(text, (int64_t)strlen(text)); }

static void test_ceph(void **state) {
    ASSERT_STRIPES(read_ceph("stripe_unit=1048576 stripe_count=2 object_size=4194304 pool=cephfs_data"), MIB, 2);
    ASSERT_STRIPES(read_ceph("stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data"), 4 * MIB, 0);
    ASSERT_STRIPES(read_ceph("pool=x object_size=131072 stripe_count=3 stripe_unit=65536"), 65536, 3);
    static const char *const strange[] = {
        "",
        "stripe_unit",
        "stripe_unit=",
        "stripe_unit=1048576",
        "stripe_unit=0 stripe_count=2 object_size=4194304",
        "stripe_unit=x stripe_count=2 object_size=4194304",
        "stripe_unit=1048576k stripe_count=2 object_size=4194304",
        "stripe_unit=1048576 stripe_count=2 object_size=1000000",
        "stripe_unit=-1 stripe_count=2 object_size=4194304",
        "stripe_unit=99999999999999999999999999 stripe_count=2 object_size=4194304",
        "my_stripe_unit=1048576 stripe_count=2 object_size=4194304",
        "stripe_unit=1048576 stripe_count=99999999 object_size=4194304"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        ASSERT_STRIPES(read_ceph(strange[i]), 0, 0);
}

static void test_ceph_wish(void **state) {
    char value[SAGOI_STRIPES_VALUE_MAX];
    assert_true(sagoi_stripes_to_ceph((sagoi_stripes){MIB, 2}, value) > 0);
    ASSERT_STRIPES(read_ceph(value), MIB, 2);
    assert_true(sagoi_stripes_to_ceph((sagoi_stripes){0, 3}, value) > 0);
    ASSERT_STRIPES(read_ceph(value), MIB, 3);
    assert_true(sagoi_stripes_to_ceph((sagoi_stripes){8 * MIB, 0}, value) > 0);
    ASSERT_STRIPES(read_ceph(value), 8 * MIB, 0);
    assert_int_equal(sagoi_stripes_to_ceph((sagoi_stripes){1000, 2}, value), 0);
    assert_int_equal(sagoi_stripes_to_ceph((sagoi_stripes){0, 0}, value), 0);
}

static void test_gluster(void **state) {
    ASSERT_STRIPES(sagoi_stripes_of_gluster("\0\0\0\0\4\0\0\0", 8), 64 * MIB, 0);
    ASSERT_STRIPES(sagoi_stripes_of_gluster("\0\0\0\0\4\0\0", 7), 0, 0);
    ASSERT_STRIPES(sagoi_stripes_of_gluster("\xff\xff\xff\xff\xff\xff\xff\xff", 8), 0, 0);
    ASSERT_STRIPES(sagoi_stripes_of_gluster(NULL, 8), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lustre_plain),   cmocka_unit_test(test_lustre_targets),
        cmocka_unit_test(test_lustre_strange), cmocka_unit_test(test_lustre_composite),
        cmocka_unit_test(test_lustre_hostile), cmocka_unit_test(test_lustre_wish),
        cmocka_unit_test(test_ceph),           cmocka_unit_test(test_ceph_wish),
        cmocka_unit_test(test_gluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
