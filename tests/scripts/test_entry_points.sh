#!/bin/sh
# The drop-in's entry points are what their generator writes, so that neither is changed without the other.
exec python3 "${SAGO_SOURCE:-$(dirname "$0")/../..}/dropin/entry_points.py" --check
