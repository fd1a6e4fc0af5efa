#!/bin/sh
# The check for machines with a GPU is built from a list of sources, which changes with what they need.
set -eu
exec "$SAGO_SOURCE/tests/device/run.sh" --build-only
