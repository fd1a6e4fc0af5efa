/* Machine descriptions: whatever is accepted is written and read back as the same, and can be asked anything. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/description.h"
#include "support/description_text.h"
#include "machine/sums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth) {
    if (!truth)
        abort();
}

static void write_and_read(const sagoi_description *d) {
    sagoi_description again;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    description_write(d, out);
    require(fclose(out) == 0);
    require(sagoi_description_parse("again", text, (int64_t)length, &again) == SAGO_OK);
    require(description_equal(d, &again));
    sagoi_description_cleanup(&again);
    free(text);
}

static void ask(const sagoi_topology *t) {
    sagoi_sums *sums;
    int64_t last = t->places - 1;
    require(sagoi_topology_distance(t, 0, last) >= (last > 0));
    require(sagoi_topology_bandwidth(t, 0, last) > 0);
    require(sagoi_topology_store_cost(t, last / 2, 1e6) >= 0);
    if (t->places > 100000 || sagoi_sums_create(t, &sums) != SAGO_OK)
        return;
    sagoi_sums_add(sums, 0, 1000);
    require(last == 0 || sagoi_sums_transfer(sums, last) == 1000 / sagoi_topology_bandwidth(t, 0, last));
    sagoi_sums_destroy(sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sagoi_description d;
    if (sagoi_description_parse("fuzz", (const char *)data, (int64_t)size, &d) != SAGO_OK)
        return 0;
    write_and_read(&d);
    ask(&d.topology);
    sagoi_description_cleanup(&d);
    return 0;
}
