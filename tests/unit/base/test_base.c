/* base: the floor everything stands on. */
#include "tests/lib/unit.h"

#include "base/arena.h"
#include "base/text/buf.h"
#include "base/bytes.h"
#include "base/count.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/text/hex.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "base/text/strtab.h"
#include "base/vec.h"

#include <endian.h>
#include <time.h>

static void vec_grows_and_keeps_order(void **state)
{
	(void)state;
	VEC(int) v = {0};
	for (int i = 0; i < 1000; i++)
		assert_int_equal(vec_push(&v, i), 0);
	assert_int_equal(v.n, 1000);
	assert_int_equal(v.v[999], 999);
	vec_release(&v);
}

/* From 4 MiB on it has room for 64, where it stays; beyond that it grows as usual. */
static void vec_that_is_large_stays_in_place(void **state)
{
	VEC(uint64_t) v = {0};
	const uint64_t *at = NULL;
	int moves = 0;
	(void)state;
	for (uint64_t i = 0; i < 12u << 20; i++) {
		assert_int_equal(vec_push(&v, i), 0);
		moves += v.n > (4u << 20) / sizeof(i) * 3 / 2 && v.v != at;
		at = v.v;
	}
	assert_true(moves <= 2);
	for (uint64_t i = 0; i < v.n; i++)
		assert_true(v.v[i] == i);
	vec_release(&v);
}

static void vec_push_reports_exhaustion(void **state)
{
	(void)state;
	VEC(int) v = {0};
	mem_fail_after(0);
	assert_int_equal(vec_push(&v, 1), ERR_NOMEM);
	mem_fail_after(-1);
	assert_int_equal(v.n, 0);
	vec_release(&v);
}

static void resize_refuses_overflow(void **state)
{
	(void)state;
	volatile size_t huge = SIZE_MAX;
	assert_null(mem_resize(NULL, huge, 16));
}

static void strtab_gives_equal_ids_to_equal_text(void **state)
{
	(void)state;
	struct strtab t = {0};
	uint32_t a, b, c;
	assert_int_equal(strtab_intern(&t, "main", &a), 0);
	assert_int_equal(strtab_intern_n(&t, "mainly", 4, &b), 0);
	assert_int_equal(strtab_intern(&t, "", &c), 0);
	assert_int_equal(a, b);
	assert_int_equal(c, 0);
	for (int i = 0; i < 5000; i++) {
		char s[16];
		snprintf(s, sizeof(s), "f%d", i);
		assert_int_equal(strtab_intern(&t, s, &c), 0);
		assert_int_equal(c, strtab_count(&t) - 1);
		assert_string_equal(strtab_get(&t, c), s);
	}
	assert_string_equal(strtab_get(&t, a), "main");
	assert_string_equal(strtab_get(&t, c + 1), "");
	assert_string_equal(strtab_get(&t, UINT32_MAX), "");
	assert_true(strtab_find(&t, "f4999", &b) && b == c);
	strtab_release(&t);
	assert_string_equal(strtab_get(&t, a), "");
}

/* Readers hold no lock while another thread interns. */
static void strtab_growth_moves_nothing(void **state)
{
	(void)state;
	enum { N = 5000 };
	static const struct strtab_entry *was[N];
	struct strtab t = {0};
	for (uint32_t i = 0, id; i < N; i++) {
		char s[16];
		snprintf(s, sizeof(s), "f%u", i);
		assert_int_equal(strtab_intern(&t, s, &id), 0);
		was[i] = strtab_entry(&t, i);
	}
	for (uint32_t i = 0; i < N; i++)
		assert_ptr_equal(strtab_entry(&t, i), was[i]);
	strtab_release(&t);
}

static void path_number_takes_digits_only(void **state)
{
	(void)state;
	static const char *const not [] = {
		"data",    "data.",   "data.x",  "data.+5",          "data. 5",
		"data.-5", "data.05", "data.5x", "data.99999999999", "data.2147483648",
		"Data.5"};
	int32_t n = 7;
	assert_true(path_number("data.0", "data.", "", &n) && n == 0);
	assert_true(path_number("data.2147483647", "data.", "", &n) && n == INT32_MAX);
	assert_true(path_number("perf-12.map", "perf-", ".map", &n) && n == 12);
	assert_false(path_number("perf-12.map2", "perf-", ".map", &n));
	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		assert_false(path_number(not [i], "data.", "", &n));
}

static void u64map_replaces_and_survives_growth(void **state)
{
	(void)state;
	struct u64map m = {0};
	uint32_t v;
	for (uint64_t k = 0; k < 10000; k++)
		assert_int_equal(u64map_put(&m, k << 32, (uint32_t)k), 0);
	assert_int_equal(u64map_put(&m, 5ull << 32, 77), 0);
	assert_int_equal(m.n, 10000);
	assert_true(u64map_get(&m, 5ull << 32, &v) && v == 77);
	assert_true(u64map_get(&m, 9999ull << 32, &v) && v == 9999);
	assert_false(u64map_get(&m, 1, &v));
	u64map_release(&m);
}

static void idmap_finds_every_id_of_a_hash(void **state)
{
	(void)state;
	struct idmap m = {0};
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(idmap_put(&m, hash_u64(i % 100), i), 0);
	size_t at = 0, hits = 0;
	for (uint32_t id; idmap_next(&m, hash_u64(7), &at, &id);)
		hits += id % 100 == 7;
	assert_int_equal(hits, 10);
	idmap_release(&m);
}

/* The number that hash_u64 makes into h. */
static uint64_t unhash_u64(uint64_t h)
{
	const uint64_t factor = 0xd6e8feb86659fd93u;
	uint64_t inverse = factor;
	for (int i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	for (int i = 0; i < 2; i++) {
		h ^= h >> 32;
		h *= inverse;
	}
	return h ^ h >> 32;
}

/* Whoever writes a recording knows the hash, and could have all addresses in it meet. */
static void keys_cannot_be_chosen_so_that_they_meet(void **state)
{
	enum { KEYS = 100000 };
	(void)state;
	struct u64map m = {0};
	struct idmap ids = {0};
	clock_t start = clock();
	assert_int_equal(hash_u64(unhash_u64(12345)), 12345);
	for (uint64_t k = 0; k < KEYS; k++) {
		assert_int_equal(u64map_put(&m, unhash_u64(k << 40), (uint32_t)k), 0);
		assert_int_equal(idmap_put(&ids, k, (uint32_t)k), 0);
	}
	for (uint64_t k = 0; k < KEYS; k++) {
		uint32_t v;
		size_t at = 0;
		assert_true(u64map_get(&m, unhash_u64(k << 40), &v) && v == k);
		while (idmap_next(&ids, k, &at, &v) && v != k)
			;
		assert_int_equal(v, k);
	}
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
	u64map_release(&m);
	idmap_release(&ids);
}

/* XXH3 multiplies words of a text with each other: one that is zero hides the other. Its words
 * are xored with a table (XXH3_kSecret in xxhash.h) and the seed. */
static void texts_cannot_be_written_so_that_they_meet(void **state)
{
	enum { TEXTS = 50000, LENGTH = 32 };
	(void)state;
	struct strtab t = {0};
	char text[] = "\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe.....and another pair...",
	     first[sizeof(text)];
	uint32_t id;
	clock_t start = clock();
	for (unsigned i = 0; i < TEXTS; i++) {
		memcpy(text + 8,
		       &(uint8_t[4]){33 + i % 90, 33 + i / 90 % 90, 33 + i / 8100, 33}, 4);
		if (!i)
			memcpy(first, text, sizeof(text));
		assert_int_equal(strtab_intern_n(&t, text, LENGTH, &id), 0);
		assert_int_equal(id, i + 1);
	}
	assert_int_equal(hash_bytes(first, LENGTH, 0), hash_bytes(text, LENGTH, 0));
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
	strtab_release(&t);
}

static void bytes_past_the_end_are_zero_and_bad(void **state)
{
	(void)state;
	const uint8_t raw[] = {1, 2, 3, 4, 5, 6};
	struct bytes b = bytes_init(raw, sizeof(raw), 0), s = bytes_init(raw, sizeof(raw), 1);
	assert_int_equal(bytes_u32(&b), htole32(0x04030201));
	assert_int_equal(bytes_u32(&s), htobe32(0x04030201));
	assert_int_equal(bytes_u32(&b), 0);
	assert_false(bytes_ok(&b));
	assert_true(bytes_ok(&s));
}

static void buf_stops_at_its_ceiling(void **state)
{
	(void)state;
	struct buf b = {.max = 10};
	buf_str(&b, "12345");
	buf_u64(&b, 678);
	assert_string_equal(buf_cstr(&b), "12345678");
	buf_str(&b, "too long");
	assert_int_equal(buf_failed(&b), ERR_LIMIT);
	buf_release(&b);
}

static void arena_aligns_and_serves_large_requests(void **state)
{
	(void)state;
	struct arena a = {0};
	(void)arena_bytes(&a, 3);
	char *p = arena_alloc(&a, 100), *big = arena_alloc(&a, 5 << 20);
	assert_int_equal((uintptr_t)p % 16, 0);
	memset(big, 1, 5 << 20);
	arena_release(&a);
}

static void err_prefix_keeps_the_message_and_its_bounds(void **state)
{
	(void)state;
	struct err e = {0};
	char longest[600];
	err_set(&e, ERR_FORMAT, "record too short");
	assert_int_equal(err_prefix(&e, "MMAP at 0x%x", 16), ERR_FORMAT);
	assert_string_equal(e.msg, "MMAP at 0x10: record too short");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	err_prefix(&e, "%s", longest);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	err_set(&e, ERR_IO, "%s", longest);
	err_prefix(&e, "file");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	assert_memory_equal(e.msg, "file: xxx", 9);
}

/* Every byte at every place, beside one digit at a time. */
static void eight_digits_are_those_of_one_at_a_time(void **state)
{
	(void)state;
	static const char texts[][9] = {"00000000", "fFaA0199", "89abcdef", "FEDCBA98"};
	for (size_t t = 0; t < sizeof(texts) / sizeof(*texts); t++)
		for (int at = 0; at < 8; at++)
			for (int c = 0; c < 256; c++) {
				char text[9];
				memcpy(text, texts[t], sizeof(text));
				text[at] = (char)c;
				uint32_t want = 0, have = 0;
				for (int i = 0; i < 8; i++)
					want = want << 4 | (uint32_t)(hex_digit(text[i]) & 15);
				int rc = hex_eight(text, &have);
				assert_int_equal(rc, hex_digit((char)c) >= 0);
				assert_int_equal(have, rc ? want : 0);
			}
}

static void a_product_needs_more_bits_than_its_quotient(void **state)
{
	static const struct {
		int64_t a, b, c, is;
	} all[] = {{7, 3, 2, 10},
		   {-7, 3, 2, -10},
		   {7, -3, -2, 10},
		   {0, INT64_MAX, 3, 0},
		   {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
		   {INT64_MIN, INT64_MAX, INT64_MAX, INT64_MIN},
		   {INT64_MAX, 10000000, 10000001, 9223371114517664355},
		   {3600000000123, 86400000043210, 86400000000000, 3600000001923},
		   {INT64_MAX, 4, 1, -4}};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_int_equal(count_mul_div(all[i].a, all[i].b, all[i].c), all[i].is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(err_prefix_keeps_the_message_and_its_bounds),
		cmocka_unit_test(vec_grows_and_keeps_order),
		cmocka_unit_test(vec_that_is_large_stays_in_place),
		cmocka_unit_test(vec_push_reports_exhaustion),
		cmocka_unit_test(resize_refuses_overflow),
		cmocka_unit_test(strtab_gives_equal_ids_to_equal_text),
		cmocka_unit_test(strtab_growth_moves_nothing),
		cmocka_unit_test(path_number_takes_digits_only),
		cmocka_unit_test(u64map_replaces_and_survives_growth),
		cmocka_unit_test(idmap_finds_every_id_of_a_hash),
		cmocka_unit_test(keys_cannot_be_chosen_so_that_they_meet),
		cmocka_unit_test(texts_cannot_be_written_so_that_they_meet),
		cmocka_unit_test(bytes_past_the_end_are_zero_and_bad),
		cmocka_unit_test(buf_stops_at_its_ceiling),
		cmocka_unit_test(arena_aligns_and_serves_large_requests),
		cmocka_unit_test(a_product_needs_more_bits_than_its_quotient),
		cmocka_unit_test(eight_digits_are_those_of_one_at_a_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
