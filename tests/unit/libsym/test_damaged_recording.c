/* libsym: whole recordings folded from damaged bytes, in memory: cut at many lengths, bytes of
 * the header and the first records flipped. It ends by itself with an answer or with one line
 * that says why; what it says of leaks and overruns is AddressSanitizer's (make asan). */
#include "tests/lib/loadfile.h"

#include "base/mem.h"
#include "libsym/profile.h"

static void one_line(const struct err *e, int rc)
{
	assert_true(rc < 0);
	assert_true(e->msg[0]);
	assert_null(strchr(e->msg, '\n'));
}

/* The number of samples folded, or -1 when the recording was refused. */
static int64_t fold(const char *p, size_t n, const char *symfs)
{
	struct profile_options opt = {
		.modules.find = {.symfs = symfs, .buildid_dir = "", .no_local = 1}};
	struct fold_options how = {.workers = 1};
	struct recording *rec = NULL;
	struct profile *prof = NULL;
	struct err e = {0};
	int64_t samples = 0;
	char *copy = mem_alloc(n); /* exactly n bytes, so that one too far is seen */
	assert_non_null(copy);
	if (n)
		memcpy(copy, p, n);
	int rc = recording_open_mem(&rec, copy, n, "damaged", &e);
	if (!rc)
		rc = profile_of(&prof, rec, &opt, &e);
	if (!rc)
		rc = profile_fold(prof, &how, &e);
	if (rc)
		one_line(&e, rc);
	for (size_t i = 0; !rc && i < prof->folded.n; i++)
		samples += (int64_t)prof->folded.v[i].samples;
	profile_close(prof);
	mem_free(copy);
	return rc ? -1 : samples;
}

static const struct {
	const char *data, *symfs;
	size_t cuts, flips; /* how many of each; flips in the first 4 KiB */
} inputs[] = {
	{"testdata/uprobe/perf.data", "testdata/demo/symfs", 300, 4096},
	{"testdata/dlclose/perf.data", "testdata/dlclose/symfs", 100, 512},
	{"testdata/pipe/perf.data", "testdata/demo/symfs", 100, 512},
	{"testdata/zstd/perf.data", "testdata/demo/symfs", 40, 200},
	{"testdata/sched/perf.data", "testdata/sched/symfs", 30, 200},
	{"testdata/group-read/perf.data", "testdata/group-read/symfs", 20, 100},
	{"testdata/dwarf/perf.data", "testdata/dwarf/symfs", 15, 60},
	{"testdata/cut/perf.data", "testdata/demo/symfs", 30, 150},
};

static void cut_recordings_give_what_was_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
		struct buf b = {0};
		load_file(inputs[i].data, &b);
		int64_t all = fold(b.v, b.n, inputs[i].symfs), last = -1;
		assert_true(all > 0);
		for (size_t k = 0; k <= inputs[i].cuts; k++) {
			int64_t n = fold(b.v, b.n * k / inputs[i].cuts, inputs[i].symfs);
			/* the longer the prefix, the more there is */
			assert_true(n >= last);
			last = n;
		}
		assert_int_equal(last, all);
		buf_release(&b);
	}
}

static void flipped_bytes_end_in_an_answer_or_a_reason(void **state)
{
	(void)state;
	static const uint8_t masks[] = {0xff, 0x01, 0x80, 0x40};
	for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
		struct buf b = {0};
		load_file(inputs[i].data, &b);
		for (size_t k = 0; k < inputs[i].flips; k++) {
			size_t at = k * 4096 / inputs[i].flips;
			char was = b.v[at];
			b.v[at] ^= (char)masks[k % 4];
			fold(b.v, b.n, inputs[i].symfs);
			b.v[at] = was;
		}
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_recordings_give_what_was_whole),
		cmocka_unit_test(flipped_bytes_end_in_an_answer_or_a_reason),
	};
	return cmocka_run_group_tests_name("libsym damaged recording", tests, NULL, NULL);
}
