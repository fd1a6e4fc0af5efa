#include "base/hash.h"

#include <xxhash.h>

sagoi_hash sagoi_hash_bytes(const void *data, int64_t bytes, sagoi_hash seed) {
    XXH128_hash_t h = XXH3_128bits_withSeed(data, (size_t)bytes, seed.low ^ (seed.high * 0x9e3779b97f4a7c15u));
    sagoi_hash result = {h.low64, h.high64};
    return result;
}
