/* libsym: callchains that the kernel cut say so, and only they. Stacks are shown as their depth
 * and their root. */
#include "tests/lib/unit.h"

#include "libsym/profile.h"
#include "tests/lib/perfwriter.h"
#include "tests/lib/smallelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program's text: _start, then visit. */
enum { TEXT = 0x401000, VISIT = TEXT + 0x40, LONGEST = 600 };
#define KERNEL 0xffffffff81000010ull

/* A recording of callchains, each of `n` words. */
struct scene {
	enum pw_mode mode;
	uint16_t asked;     /* attr.sample_max_stack */
	uint64_t flags;     /* more flags of the attr */
	const char *name;   /* of the event; NULL: cpu-clock */
	const char *kernel; /* release */
	int kernel_part;    /* the chain begins with a kernel frame and the user marker */
	uint64_t root;      /* the outermost address; 0: VISIT, as all others */
	uint32_t frames;
	uint32_t also; /* a second sample, of another process, with so many frames; 0: none */
};

static const struct pw_id at = {.pid = 7, .tid = 7, .time = 100};

static size_t chain_of(const struct scene *s, uint32_t frames, uint64_t *chain)
{
	size_t n = 0;
	if (s->kernel_part) {
		chain[n++] = PW_CONTEXT_KERNEL;
		chain[n++] = KERNEL;
		frames--;
	}
	chain[n++] = PW_CONTEXT_USER;
	for (uint32_t i = 0; i < frames; i++)
		chain[n++] = VISIT + 8;
	if (s->root)
		chain[n - 1] = s->root;
	return n;
}

static void write_sample(struct pw *w, const struct scene *s, uint32_t pid, uint32_t frames)
{
	uint64_t chain[LONGEST + 4], user[LONGEST + 4];
	size_t n = chain_of(s, frames, chain);
	struct pw_sample x = {.misc = s->kernel_part ? PW_MISC_KERNEL : PW_MISC_USER,
			      .ip = s->kernel_part ? KERNEL : VISIT + 8,
			      .pid = pid,
			      .tid = pid,
			      .time = 200,
			      .ips = chain,
			      .nips = n};
	if (s->flags & PW_DEFER_CALLCHAIN) {
		memcpy(user, chain, n * sizeof(*user));
		chain[0] = PW_CONTEXT_USER_DEFERRED;
		chain[1] = 77;
		x.nips = 2;
	}
	pw_sample(w, 0, &x);
	if (s->flags & PW_DEFER_CALLCHAIN)
		pw_callchain_deferred(w, &at, 77, user, n);
}

static void write_image(const struct scene *s, struct buf *image)
{
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = s->mode});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = s->name ? s->name : "cpu-clock",
				      .sample_type =
					      PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CALLCHAIN,
				      .max_stack = s->asked,
				      .flags = PW_SAMPLE_ID_ALL | s->flags});
	pw_feature_event_desc(&w);
	if (s->kernel)
		pw_feature_string(&w, PW_FEAT_OSRELEASE, s->kernel);
	for (uint32_t pid = 7; pid < 9; pid++)
		pw_mmap2(&w, &at,
			 &(struct pw_mmap){.pid = pid,
					   .tid = pid,
					   .addr = TEXT,
					   .len = 0x1000,
					   .pgoff = 0x1000,
					   .prot = PROT_READ | PROT_EXEC,
					   .filename = "/none/server"});
	write_sample(&w, s, 7, s->frames);
	if (s->also)
		write_sample(&w, s, 8, s->also);
	assert_int_equal(pw_finish(&w, image), 0);
}

/* DIR/none/server, with a symbol table. */
static void write_server(const char *dir)
{
	static struct smallelf elf;
	static const uint8_t text[0x100];
	char path[64];
	smallelf_init(&elf, EM_X86_64);
	uint16_t at_text = (uint16_t)smallelf_section(&elf, ".text", SHT_PROGBITS,
						      SHF_ALLOC | SHF_EXECINSTR, 0x1000, text,
						      sizeof(text));
	smallelf_symbol(&elf, "_start", STB_GLOBAL, STT_FUNC, at_text, 0x1000, 0x40);
	smallelf_symbol(&elf, "visit", STB_GLOBAL, STT_FUNC, at_text, 0x1040, 0x40);
	size_t n = smallelf_finish(&elf);
	snprintf(path, sizeof(path), "%s/none", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/none/server", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(elf.image, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void remove_server(const char *dir)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/none/server", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/none", dir);
	rmdir(path);
	rmdir(dir);
}

static char dir[32];

static int make_server(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/perfkit-cut-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	write_server(dir);
	return 0;
}

static int drop_server(void **state)
{
	(void)state;
	remove_server(dir);
	return 0;
}

static const char *root_name(const struct profile *p, uint32_t path)
{
	while (p->stacks.paths.v[path].parent)
		path = p->stacks.paths.v[path].parent;
	const struct frame *f = &p->stacks.frames.v[p->stacks.paths.v[path].frame];
	return strtab_get(&p->stacks.strings, f->name);
}

/* Check the depth and the root of the deepest stack. */
static void check(const struct scene *s, size_t depth, const char *root)
{
	struct profile_options opt = {
		.modules.find = {.no_local = 1, .buildid_dir = "", .symfs = dir}};
	struct fold_options how = {.workers = 1};
	struct buf image = {0};
	struct recording *rec;
	struct profile *p;
	struct err e = {0};
	size_t deepest = 0, at_depth;
	write_image(s, &image);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	for (size_t i = 0; i < p->folded.n; i++)
		if (stacks_depth(&p->stacks, p->folded.v[i].path) >
		    stacks_depth(&p->stacks, p->folded.v[deepest].path))
			deepest = i;
	at_depth = stacks_depth(&p->stacks, p->folded.v[deepest].path);
	assert_string_equal(root_name(p, p->folded.v[deepest].path), root);
	assert_int_equal(at_depth, depth);
	profile_close(p);
	buf_release(&image);
}

static void full_chain_begins_with_a_mark(void **state)
{
	(void)state;
	check(&(struct scene){.frames = 127}, 128, "[truncated]");
	check(&(struct scene){.frames = 127, .mode = PW_PIPE}, 128, "[truncated]");
	check(&(struct scene){.frames = 126}, 126, "visit");
	check(&(struct scene){.frames = 20, .asked = 20}, 21, "[truncated]");
	check(&(struct scene){.frames = 127, .asked = 300}, 127, "visit");
	check(&(struct scene){.frames = 127, .kernel_part = 1}, 128, "[truncated]");
}

static void markers_count_only_before_linux_4_7(void **state)
{
	(void)state;
	check(&(struct scene){.frames = 125, .kernel_part = 1}, 125, "visit");
	check(&(struct scene){.frames = 125, .kernel_part = 1, .kernel = "4.7.0"}, 125,
	      "visit");
	check(&(struct scene){.frames = 125, .kernel_part = 1, .kernel = "4.4.0-210"}, 126,
	      "[truncated]");
	check(&(struct scene){.frames = 126, .kernel = "3.10.0"}, 127, "[truncated]");
}

static void longer_chain_shows_that_the_limit_was_raised(void **state)
{
	(void)state;
	struct scene raised = {.frames = 127, .also = 128};
	check(&raised, 128, "visit");
	raised.mode = PW_PIPE;
	check(&raised, 128, "visit");
	/* what one event asks for says nothing about the kernel */
	check(&(struct scene){.frames = 300, .also = 128, .asked = 300}, 301, "[truncated]");
}

static void full_chain_may_be_whole(void **state)
{
	(void)state;
	check(&(struct scene){.frames = 127, .root = TEXT + 0x10}, 127, "_start");
	/* a false frame pointer led out of the code */
	check(&(struct scene){.frames = 127, .root = 0x7777777}, 127, "");
}

static void other_limits(void **state)
{
	(void)state;
	check(&(struct scene){.frames = 32, .name = "offcpu-time"}, 33, "[truncated]");
	check(&(struct scene){.frames = 31, .name = "offcpu-time"}, 31, "visit");
	/* the user's part, which came later, has a limit of its own */
	check(&(struct scene){.frames = 127, .flags = PW_DEFER_CALLCHAIN}, 127, "visit");
	check(&(struct scene){.frames = 510, .flags = PW_DEFER_CALLCHAIN}, 511, "[truncated]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_chain_begins_with_a_mark),
		cmocka_unit_test(markers_count_only_before_linux_4_7),
		cmocka_unit_test(longer_chain_shows_that_the_limit_was_raised),
		cmocka_unit_test(full_chain_may_be_whole),
		cmocka_unit_test(other_limits),
	};
	return cmocka_run_group_tests(tests, make_server, drop_server);
}
