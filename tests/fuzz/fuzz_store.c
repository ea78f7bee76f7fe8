/*
 * fuzz_store - an SQLite store from a stranger: opened, loaded, and asked everything that is
 * asked of a timeline.
 *
 * Input: the bytes of a store.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/asktimeline.h"

#include "libtime/store/store_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	ask_store(fuzz_file("run.db", p, n));
	return 0;
}
