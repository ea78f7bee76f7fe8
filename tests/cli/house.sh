#!/bin/sh
# The sources keep the rules of tests/house.sh (make check-layers, make check-house).
exec sh "$SRC/tests/house.sh" layers headers code externs hostile recipes asserts
