/*
 * fuzz.h - what every tests/fuzz/fuzz_*.c defines. `make check` compiles them, `make fuzz`
 * links them with clang's driver: build-fuzz/tests/fuzz/fuzz_NAME [-max_total_time=60]
 * CORPUS...
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#endif
