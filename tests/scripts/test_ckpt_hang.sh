#!/bin/sh
# RUN: timeout=240
# A sample of `make check-hang`.
exec "$SAGO_SOURCE/tests/hang/hang.sh" --sample
