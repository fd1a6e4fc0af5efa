/* Used if no GIO was given at configure time. */
#include "bench/engines.h"

const bench_engine_ops bench_engine_gio = {.name = "gio"};
