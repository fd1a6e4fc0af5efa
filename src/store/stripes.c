#include "store/stripes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"

/* ---- Lustre ----
 *
 * Plain:      0 magic, 4 pattern, 8 object id, 24 stripe size (u32), 28 stripe count (u16), 30 offset (u16); then,
 * but in v1 after a pool's name of 16 bytes, an object of 24 bytes for each stripe: 20 number of its target (u32)
 * Composite:  0 magic, 4 size, 14 entries (u16), 32 entries of 48 bytes each:
 *             0 id, 4 flags, 8 start (u64), 16 end (u64), 24 offset of a plain layout (u32), 28 its size (u32) */

enum {
    MAGIC_V1 = 0x0bd10bd0,
    MAGIC_V3 = 0x0bd30bd0,
    MAGIC_SPECIFIC = 0x0bd50bd0,
    MAGIC_COMPOSITE = 0x0bd60bd0,
    PATTERN_RAID0 = 0x001,
    PATTERN_OVERSTRIPED = 0x200,
    PLAIN_BYTES = 32,
    POOL_BYTES = 16,
    OBJECT_BYTES = 24,
    OBJECT_TARGET = 20,
    LAST_TARGET = 0xffff,
    HEADER_BYTES = 32,
    ENTRY_BYTES = 48,
    ENTRY_STALE = 0x1,
    MIRROR_SHIFT = 16, /* shift in the id of an entry */
    ALL_TARGETS = 0xffff,
    MOST_TARGETS = 2000,
    LEAST_UNIT = 65536 /* the least unit of Lustre */
};

static uint16_t u16_at(const char *value, int64_t at) {
    uint16_t number;
    memcpy(&number, value + at, sizeof number);
    return number;
}

static uint32_t u32_at(const char *value, int64_t at) {
    uint32_t number;
    memcpy(&number, value + at, sizeof number);
    return number;
}

static uint64_t u64_at(const char *value, int64_t at) {
    uint64_t number;
    memcpy(&number, value + at, sizeof number);
    return number;
}

/* A count of 0 means: striped over an unknown number of targets. */
static sagoi_stripes plain_layout(const char *value, int64_t bytes) {
    const sagoi_stripes none = {0, 0};
    if (bytes < PLAIN_BYTES)
        return none;
    uint32_t magic = u32_at(value, 0), pattern = u32_at(value, 4) & 0xffff;
    bool understood = magic == MAGIC_V1 || magic == MAGIC_V3 || magic == MAGIC_SPECIFIC;
    if (!understood || (pattern & ~(uint32_t)PATTERN_OVERSTRIPED) != PATTERN_RAID0)
        return none;
    int64_t unit = u32_at(value, 24), count = u16_at(value, 28);
    if (unit < LEAST_UNIT || unit % LEAST_UNIT != 0 || (count > MOST_TARGETS && count != ALL_TARGETS))
        return none;
    return (sagoi_stripes){unit, count == ALL_TARGETS ? 0 : count};
}

static sagoi_stripes entry_layout(const char *value, int64_t bytes, const char *entry) {
    int64_t at = u32_at(entry, 24), size = u32_at(entry, 28);
    bool inside = at >= HEADER_BYTES && at <= bytes && size <= bytes - at;
    return inside ? plain_layout(value + at, size) : (sagoi_stripes){0, 0};
}

/* Mirrors hold the same data, so the first mirror that is up to date is used. */
static sagoi_stripes composite_layout(const char *value, int64_t bytes) {
    sagoi_stripes last = {0, 0};
    int64_t entries = bytes < HEADER_BYTES ? 0 : u16_at(value, 14), mirror = -1, widest = 0;
    uint64_t last_start = 0;
    for (int64_t i = 0; i < entries && HEADER_BYTES + (i + 1) * ENTRY_BYTES <= bytes; i++) {
        const char *entry = value + HEADER_BYTES + i * ENTRY_BYTES;
        sagoi_stripes part = entry_layout(value, bytes, entry);
        int64_t of = u32_at(entry, 0) >> MIRROR_SHIFT;
        if (part.unit == 0 || (u32_at(entry, 4) & ENTRY_STALE) || (mirror >= 0 && of != mirror))
            continue;
        mirror = of;
        widest = sagoi_max(widest, part.count);
        if (last.unit == 0 || u64_at(entry, 8) >= last_start) {
            last = part;
            last_start = u64_at(entry, 8);
        }
    }
    if (last.count == 0) /* a part that is not made yet is at least as wide as those before it */
        last.count = widest;
    return last;
}

sagoi_stripes sagoi_stripes_of_lustre(const void *value, int64_t bytes) {
    if (!value || bytes < (int64_t)sizeof(uint32_t))
        return (sagoi_stripes){0, 0};
    return u32_at(value, 0) == MAGIC_COMPOSITE ? composite_layout(value, bytes) : plain_layout(value, bytes);
}

int64_t sagoi_stripes_first_of_lustre(const void *value, int64_t bytes) {
    sagoi_stripes plain = value ? plain_layout(value, bytes) : (sagoi_stripes){0, 0};
    if (plain.unit == 0 || plain.count == 0)
        return 0;
    int64_t at = PLAIN_BYTES + (u32_at(value, 0) == MAGIC_V1 ? 0 : POOL_BYTES) + OBJECT_TARGET;
    if (bytes < at - OBJECT_TARGET + plain.count * OBJECT_BYTES)
        return 0;
    int64_t first = u32_at(value, at);
    for (int64_t i = 0; i < plain.count; i++)
        if (u32_at(value, at + i * OBJECT_BYTES) != first + i || first + i > LAST_TARGET)
            return 0;
    return first + 1;
}

int64_t sagoi_stripes_to_lustre(sagoi_stripes wanted, char value[SAGOI_STRIPES_VALUE_MAX]) {
    bool fits = wanted.unit >= 0 && wanted.unit % LEAST_UNIT == 0 && wanted.unit <= UINT32_MAX &&
                wanted.count >= 0 && wanted.count <= MOST_TARGETS && (wanted.unit > 0 || wanted.count > 0);
    if (!fits)
        return 0;
    const uint32_t head[2] = {MAGIC_V1, PATTERN_RAID0}, unit = (uint32_t)wanted.unit;
    const uint16_t tail[2] = {(uint16_t)wanted.count, UINT16_MAX}; /* any target may be the first */
    memset(value, 0, PLAIN_BYTES);
    memcpy(value, head, sizeof head);
    memcpy(value + 24, &unit, sizeof unit);
    memcpy(value + 28, tail, sizeof tail);
    return PLAIN_BYTES;
}

/* ---- Ceph ---- */

/* Objects of Ceph usually have the first of these sizes; units and objects are multiples of the second. */
enum { CEPH_OBJECT = 4 << 20, CEPH_UNIT = 65536 };

/* The number after "name=" in a list of words; 0: there is none, or it is no number. */
static int64_t number_of(const char *value, int64_t bytes, const char *name) {
    int64_t length = (int64_t)strlen(name), number = 0;
    for (int64_t at = 0; at + length < bytes; at++) {
        bool starts = at == 0 || value[at - 1] == ' ';
        if (!starts || memcmp(value + at, name, (size_t)length) != 0 || value[at + length] != '=')
            continue;
        for (at += length + 1; at < bytes && isdigit((unsigned char)value[at]); at++)
            if (sagoi_mul(number, 10, &number) || sagoi_add(number, value[at] - '0', &number))
                return 0;
        return at == bytes || value[at] == ' ' || value[at] == '\0' ? number : 0;
    }
    return 0;
}

sagoi_stripes sagoi_stripes_of_ceph(const char *value, int64_t bytes) {
    if (!value || bytes <= 0)
        return (sagoi_stripes){0, 0};
    int64_t unit = number_of(value, bytes, "stripe_unit"), count = number_of(value, bytes, "stripe_count");
    int64_t object = number_of(value, bytes, "object_size");
    bool sound = unit > 0 && count > 0 && object >= unit && object % unit == 0 && unit % 512 == 0 &&
                 count <= 65536 && object <= UINT32_MAX;
    if (!sound)
        return (sagoi_stripes){0, 0};
    return count == 1 ? (sagoi_stripes){object, 0} : (sagoi_stripes){unit, count};
}

int64_t sagoi_stripes_to_ceph(sagoi_stripes wanted, char value[SAGOI_STRIPES_VALUE_MAX]) {
    int64_t unit = wanted.unit > 0 ? wanted.unit : wanted.count > 1 ? CEPH_UNIT * 16 : CEPH_OBJECT;
    int64_t count = sagoi_max(1, wanted.count), object = CEPH_OBJECT % unit == 0 ? CEPH_OBJECT : unit;
    if (unit % CEPH_UNIT != 0 || object > UINT32_MAX || count > 65536 || (wanted.unit <= 0 && wanted.count <= 0))
        return 0;
    if (count == 1 && wanted.unit > 0) /* The stripes go to one target after another, so the unit is the object. */
        object = unit;
    return snprintf(value, SAGOI_STRIPES_VALUE_MAX,
                    "stripe_unit=%" PRId64 " stripe_count=%" PRId64 " object_size=%" PRId64, unit, count, object);
}

/* ---- Gluster ---- */

sagoi_stripes sagoi_stripes_of_gluster(const void *value, int64_t bytes) {
    const unsigned char *digits = value;
    uint64_t unit = 0;
    if (!value || bytes != 8)
        return (sagoi_stripes){0, 0};
    for (int i = 0; i < 8; i++)
        unit = unit << 8 | digits[i];
    bool sound = unit >= 4096 && unit % 512 == 0 && unit <= (uint64_t)1 << 42;
    return (sagoi_stripes){sound ? (int64_t)unit : 0, 0};
}
