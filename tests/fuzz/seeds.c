/*
 * seeds.c - inputs for the fuzz targets that are made rather than taken from testdata:
 *
 *	seeds DIR		below DIR, a folder for each target
 *	seeds --samples IMAGE	the samples of a perf.data as fuzz_sample wants them, on stdout
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/smallstore.h"
#include "tests/lib/cfiasm.h"
#include "tests/lib/perfwriter.h"

#include "libparse/archive/tar.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *top;

static void make_dir(const char *target, char *path, size_t n)
{
	snprintf(path, n, "%s/%s", top, target);
	if (mkdir(path, 0755) && errno != EEXIST)
		abort();
}

static void write_seed(const char *target, const char *name, const void *p, size_t n)
{
	char path[512];
	make_dir(target, path, sizeof(path));
	size_t at = strlen(path);
	snprintf(path + at, sizeof(path) - at, "/%s", name);
	FILE *f = fopen(path, "we");
	if (!f || (n && fwrite(p, n, 1, f) != 1) || fclose(f))
		abort();
}

static void write_buf(const char *target, const char *name, struct buf *b)
{
	if (buf_failed(b))
		abort();
	write_seed(target, name, b->v, b->n);
	buf_release(b);
}

static void write_text(const char *target, const char *name, const char *text)
{
	write_seed(target, name, text, strlen(text));
}

/* --- a recording of threads that wait --------------------------------------------------- */

static const char switch_format[] =
	"name: sched_switch\nID: 314\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_state=%s%s\", (REC->prev_state & ((1 | 2 | 4) - 1)) ? "
	"__print_flags(REC->prev_state & (0xff), \"|\", { 0x1, \"S\" }, { 0x2, \"D\" }, "
	"{ 0x20, \"Z\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"\n";
static const char waking_format[] =
	"name: sched_waking\nID: 317\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n";
static const char probe_format[] =
	"name: work\nID: 2001\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] text;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 key;\toffset:20;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"(%lx) text=\\\"%s\\\" key=%u\", REC->__probe_ip, __get_str(text), "
	"REC->key\n";

enum { CLOCK, SWITCH, WAKING, PROBE, EVENTS };

/* How the threads and their file are called: plainly, or as one who knows terminals, markup and
 * tables would call them. */
struct names {
	const char *comm, *file;
};
static const struct names plain = {"prog", "/bin/prog"};
static const struct names nasty = {"\033[2J\",<&>'\n\302\233x",
				   "/bin/\033]0;x\007\"'<!--]]>&,;\n\xff\xe2\x80\xae"};
static const struct names *names = &plain;

static void add_events(struct pw *w, int dwarf)
{
	static const uint64_t ids[EVENTS][1] = {{11}, {12}, {13}, {14}};
	static const uint64_t configs[EVENTS] = {0, 314, 317, 2001};
	static const char *const event_names[EVENTS] = {"cpu-clock", "sched:sched_switch",
							"sched:sched_waking", "probe:work"};
	for (int i = 0; i < EVENTS; i++)
		pw_attr(w,
			&(struct pw_attr){
				.type = i == CLOCK ? 1 : 2,
				.config = configs[i],
				.period = i == CLOCK ? 250000 : 1,
				.sample_type = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CPU |
					       PW_S_PERIOD | PW_S_IDENTIFIER | PW_S_CALLCHAIN |
					       (i ? PW_S_RAW : 0) |
					       (dwarf ? PW_S_REGS_USER | PW_S_STACK_USER : 0),
				.flags = PW_SAMPLE_ID_ALL | PW_MMAP | PW_COMM | PW_TASK |
					 PW_CONTEXT_SWITCH,
				.regs_user = dwarf ? 0xff01ff : 0,
				.stack_user = dwarf ? 64 : 0,
				.name = event_names[i],
				.ids = ids[i],
				.nids = 1});
	static const struct pw_tracepoint tp[] = {
		{"sched", switch_format}, {"sched", waking_format}, {"probe", probe_format}};
	pw_feature_tracing_data(w, tp, 3);
	pw_feature_string(w, PW_FEAT_HOSTNAME, "elsewhere");
	pw_feature_string(w, PW_FEAT_OSRELEASE, "6.18.0");
	pw_feature_string(w, PW_FEAT_ARCH, "x86_64");
	pw_feature_event_desc(w);
	pw_feature_clock_data(w, 1, 1700000000000000000u, 1000000000);
}

static void sample(struct pw *w, int event, uint32_t tid, uint64_t time, const void *raw,
		   uint32_t raw_size)
{
	static const uint64_t ids[] = {11, 12, 13, 14};
	static const uint64_t chain[] = {PW_CONTEXT_KERNEL, 0xffffffff81000110, PW_CONTEXT_USER,
					 0x401130, 0x401150};
	static const uint64_t regs[17] = {[7] = 0x7ffc1000, [8] = 0x401130};
	static const uint64_t stack[8] = {0x401150, 0x401136};
	pw_sample(w, (size_t)event,
		  &(struct pw_sample){.misc = event ? PW_MISC_KERNEL : PW_MISC_USER,
				      .id = ids[event],
				      .pid = tid ? 7 : 0,
				      .tid = tid,
				      .time = time,
				      .period = event ? 1 : 250000,
				      .ip = event ? 0xffffffff81000110 : 0x401130,
				      .ips = event ? chain : chain + 2,
				      .nips = event ? 5 : 3,
				      .raw = raw,
				      .raw_size = raw_size,
				      .user_abi = 2,
				      .user_regs = regs,
				      .stack = stack,
				      .stack_size = sizeof(stack),
				      .stack_dyn = sizeof(stack)});
}

static void put(uint8_t *raw, size_t at, uint64_t x, size_t n)
{
	memcpy(raw + at, &x, n);
}

static void add_switch(struct pw *w, uint32_t prev, uint32_t next, uint64_t time)
{
	uint8_t raw[64] = {0x3a, 1};
	strncpy((char *)raw + 8, names->comm, 15);
	strncpy((char *)raw + 40, names->comm, 15);
	put(raw, 24, prev, 4);
	put(raw, 28, 120, 4);
	put(raw, 32, prev ? 1 : 0, 8);
	put(raw, 56, next, 4);
	put(raw, 60, 120, 4);
	sample(w, SWITCH, prev, time, raw, sizeof(raw));
}

static void add_waking(struct pw *w, uint32_t by, uint32_t tid, uint64_t time)
{
	uint8_t raw[36] = {0x3d, 1};
	strncpy((char *)raw + 8, names->comm, 15);
	put(raw, 24, tid, 4);
	put(raw, 28, 120, 4);
	sample(w, WAKING, by, time, raw, sizeof(raw));
}

static void add_probe(struct pw *w, uint32_t tid, uint64_t time)
{
	uint8_t raw[28] = {0xd1, 7};
	put(raw, 8, 0x401130, 8);
	put(raw, 16, 24 | 4 << 16, 4);
	put(raw, 20, 42, 4);
	strncpy((char *)raw + 24, names->comm, 3);
	sample(w, PROBE, tid, time, raw, sizeof(raw));
}

static void add_story(struct pw *w)
{
	struct pw_id at = {.pid = 7, .tid = 7, .time = 1000000000, .id = 11};
	struct pw_mmap prog = {.pid = 7,
			       .tid = 7,
			       .addr = 0x401000,
			       .len = 0x4000,
			       .pgoff = 0x1000,
			       .prot = 5,
			       .filename = names->file};
	struct pw_mmap kernel = {.misc = PW_MISC_KERNEL,
				 .pid = (uint32_t)-1,
				 .addr = 0xffffffff81000000,
				 .len = 0x1000000,
				 .pgoff = 0xffffffff81000000,
				 .filename = "[kernel.kallsyms]_text"};
	pw_mmap(w, &at, &kernel);
	pw_comm(w, &at, 7, 7, names->comm, 1);
	pw_mmap2(w, &at, &prog);
	pw_fork(w, &at, 7, 7, 8, 7, at.time);
	uint64_t t = 1000001000;
	for (uint32_t i = 0; i < 4; i++, t += 10000) {
		sample(w, CLOCK, 7, t, NULL, 0);
		add_probe(w, 7, t + 500);
		add_switch(w, 7, 8, t + 1000);
		add_waking(w, 8, 7, t + 3000);
		add_switch(w, 8, 7, t + 5000);
		add_waking(w, 7, 8, t + 7000);
	}
	at.time = t;
	pw_lost(w, &at, 12, 3);
	pw_finished_round(w);
	pw_exit(w, &at, 7, 7, 8, 7, t + 10);
}

static void make_recording(struct buf *image, const struct pw_config *cfg, int dwarf,
			   int compress)
{
	struct pw w;
	pw_begin(&w, cfg);
	add_events(&w, dwarf);
	if (compress)
		pw_compress_begin(&w, PW_COMPRESSED);
	add_story(&w);
	if (compress)
		pw_compress_end(&w);
	if (pw_finish(&w, image))
		abort();
}

static void make_recordings(void)
{
	struct buf image = {0};
	make_recording(&image, &(struct pw_config){0}, 0, 0);
	write_buf("perfdata", "story", &image);
	make_recording(&image, &(struct pw_config){.mode = PW_PIPE}, 1, 0);
	write_buf("perfdata", "story-pipe", &image);
	make_recording(&image, &(struct pw_config){.zstd_chunk = 200}, 0, 1);
	write_buf("perfdata", "story-zstd", &image);
	make_recording(&image, &(struct pw_config){.big_endian = 1}, 0, 0);
	write_buf("perfdata", "story-be", &image);
	make_recording(&image, &(struct pw_config){0}, 1, 0);
	write_buf("program", "story-dwarf", &image);
	names = &nasty;
	make_recording(&image, &(struct pw_config){0}, 0, 0);
	write_buf("perfdata", "story-nasty", &image);
	names = &plain;
}

/* --- tracepoints ------------------------------------------------------------------------- */

static void make_tracepoint(void)
{
	struct buf image = {0}, out = {0};
	struct recording *rec;
	make_recording(&image, &(struct pw_config){0}, 0, 0);
	if (recording_open_mem(&rec, image.v, image.n, "seed", NULL))
		abort();
	uint8_t raw[64] = {0x3a, 1};
	memcpy(raw + 8, "prog", 4);
	put(raw, 32, 0x102, 8);
	buf_add(&out, "\0\x40\0", 3);
	buf_add(&out, raw, sizeof(raw));
	buf_add(&out, rec->features.tracing_data, rec->features.tracing_data_size);
	write_buf("tracepoint", "three", &out);
	recording_close(rec);
	buf_release(&image);
}

/* --- the others -------------------------------------------------------------------------- */

static void put_words(struct buf *b, const uint64_t *v, size_t n)
{
	buf_add(b, v, n * sizeof(*v));
}

static void make_jitdump(void)
{
	static const uint32_t head[] = {0x4A695444, 1, 40, 62, 0, 4242, 1, 0, 0, 0};
	static const uint32_t lines[] = {2, 16 + 16 + 16 + 5, 90, 0};
	static const uint32_t load[] = {0, 16 + 40 + 6 + 16, 100, 0, 4242, 4243};
	static const uint32_t move[] = {1, 16 + 48, 300, 0, 4242, 4243};
	struct buf b = {0};
	buf_add(&b, head, sizeof(head));
	buf_add(&b, lines, sizeof(lines));
	put_words(&b, (const uint64_t[]){0x1000, 1, 0x1000, 10}, 4);
	buf_add(&b, "a.js", 5);
	buf_add(&b, load, sizeof(load));
	put_words(&b, (const uint64_t[]){0x1000, 0x1000, 16, 1}, 4);
	buf_add(&b, "first", 6);
	buf_add(&b, "0123456789abcdef", 16);
	buf_add(&b, move, sizeof(move));
	put_words(&b, (const uint64_t[]){0x3000, 0x1000, 0x3000, 16, 1}, 5);
	write_buf("jitdump", "two", &b);
}

/* The stack of an unwind seed: return addresses, or a signal handler's on top of them. */
static void put_stack(struct buf *b, size_t words, int handler)
{
	enum { CODE = 0x1000, STEP = 0x100, TRAMPOLINE = 0xd0, AFTER_CALL = 0xf8 };
	for (uint64_t i = 0; i < words; i++) {
		uint64_t x = CODE + STEP * (i % 60) + AFTER_CALL;
		if (handler && i < 25)
			x = i == 0    ? CODE + 16 * STEP + TRAMPOLINE
			    : i == 21 ? 0x7ff000000000 + 8 * 40 /* sp, pc, cs of its ucontext */
			    : i == 22 ? CODE + 5
			    : i == 24 ? 0x2b000000000033
				      : 0;
		put_words(b, &x, 1);
	}
}

/* Bytes that are code as well, of which fuzz_unwind.c lays one behind the other. */
static void put_code(struct buf *b, int arm)
{
	static const uint8_t code[2][0x30] = {
		{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, [0x10] = 0x55, 0x48, 0x89,
		 0xe5, [0x23] = 0xe8, 0x10},
		{0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4, [0x27] = 0x94}};
	static const uint8_t zeroes[0xd0];
	buf_add(b, zeroes, sizeof(zeroes) - b->n % 0xd0);
	buf_add(b, code[arm], sizeof(code[arm]));
}

/* `flags` as fuzz_unwind.c has them. */
static void make_unwind_of(int arm, unsigned flags, int handler, const char *name)
{
	struct cfiasm a = {.va = 0x5000};
	struct buf b = {0}, frames = {0};
	size_t words = flags ? 64 : 16;
	size_t cie = flags && arm ? cfiasm_cie(&a, "zR", EM_AARCH64, CFI_BYTES(0x0c, 31, 0))
				  : cfiasm_cie(&a, "zR", arm ? EM_AARCH64 : EM_X86_64,
					       CFI_BYTES(0x0c, 7, 8, 0x90, 1));
	cfiasm_fde(&a, cie, 0x1000, 0x800, CFI_BYTES(0x41, 0x0e, 16, 0x86, 2));
	cfiasm_fde(&a, cie, 0x1800, 0x400,
		   CFI_BYTES(0x0f, 3, 0x77, 8, 0x06, 0x10, 16, 2, 0x77, 8));
	cfiasm_zero(&a);
	buf_char(&b, (char)(flags | (unsigned)arm));
	buf_char(&b, (char)(words / 2));
	for (unsigned i = 0; i < 34; i++) {
		uint16_t reg = (uint16_t)(i == 30 ? 0x1f8 : 0x8000 + 8 * (i % 16));
		buf_add(&b, &reg, 2);
	}
	put_stack(&b, words, handler);
	buf_add(&frames, a.b, a.n);
	if (flags)
		put_code(&frames, arm);
	buf_add(&b, frames.v, frames.n);
	buf_release(&frames);
	write_buf("unwind", name, &b);
}

static void make_unwind(void)
{
	make_unwind_of(0, 0, 0, "x86-64");
	make_unwind_of(1, 0, 0, "aarch64");
	make_unwind_of(0, 4 | 8 | 32, 0, "x86-64-chain");
	make_unwind_of(1, 4 | 8 | 32, 0, "aarch64-chain");
	make_unwind_of(0, 4 | 16 | 64 | 128, 0, "x86-64-kernel");
	make_unwind_of(1, 4 | 16 | 64 | 128, 0, "aarch64-kernel");
	make_unwind_of(0, 8, 1, "x86-64-handler");
	make_unwind_of(0, 8 | 32 | 64, 1, "x86-64-foreign-handler");
	make_unwind_of(1, 8 | 32, 0, "aarch64-names");
}

static void add_entry(struct buf *b, const char *name, const char *content)
{
	static const char zeroes[TAR_BLOCK];
	size_t n = strlen(content);
	if (tar_header(b, name, n, 0, NULL))
		abort();
	buf_add(b, content, n);
	buf_add(b, zeroes, (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK);
}

static void make_bundle(void)
{
	static const char zeroes[2 * TAR_BLOCK];
	struct buf b = {0};
	char name[200] = "symfs/";
	memset(name + 6, 'n', 150);
	add_entry(&b, "MANIFEST", "perfkit-bundle 1\n");
	add_entry(&b, "perf.data", "PERFILE2");
	if (tar_header(&b, "debug", 0, 1, NULL))
		abort();
	add_entry(&b, name, "long");
	buf_add(&b, zeroes, sizeof(zeroes));
	write_buf("bundle", "four", &b);
	add_entry(&b, "usr/bin/prog/a1b2c3d4e5f60718293a4b5c6d7e8f9001020304/elf", "ELF");
	add_entry(&b, "[kernel.kallsyms]/a1b2c3d4e5f60718293a4b5c6d7e8f90/kallsyms", "k");
	buf_add(&b, zeroes, sizeof(zeroes));
	write_buf("bundle", "archive", &b);
}

static void make_store(void)
{
	char dir[512], path[600];
	make_dir("store", dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/small", dir);
	remove(path);
	if (smallstore_write(path))
		abort();
	make_dir("program", dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/small-store", dir);
	remove(path);
	if (smallstore_write(path))
		abort();
	write_seed("rows", "two",
		   "\x09\x03\x02\x05\x07\0\0\0\0\0\0\0\x02\x04\x01\x04\xff\0\0\0\0\0\0\0", 24);
}

static void make_texts(void)
{
	write_text("perfmap", "three", "1000 20 first\n1010 8 second name\n0x2000 10 third\n");
	write_text("kallsyms", "four",
		   "ffffffff81000000 T _text\nffffffff81000010 t one\n"
		   "ffffffff81000040 W two\t[mod]\nffffffff81000080 D data\n");
	write_text("folded", "three", "a;b;c_[k] 31\na;b;--;w_[w] 2.5\nx;<y>&\"z' 1 2\n");
	write_text("program", "folded", "a;b;c_[k] 31\n");
	write_text("causes", "four",
		   "lock state=S user=*lll_lock_wait|futex*\nwork comm=x\nmissing lock "
		   "why\n" FUZZ_NEXT "main\n__lll_lock_wait\nk:schedule");
	write_text("demangle", "cxx", "_ZNSt6vectorIiSaIiEE9push_backERKi");
	write_text("demangle", "cxx2", "_ZN3fooIXadL_Z3barvEEE3bazEPFvRKSsE@plt");
	write_text("demangle", "rust", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE");
	write_text("demangle", "v0", "_RNvCs15kBYyAo9fc_7mycrate7example");
	write_text("demangle", "v0-2", "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE");
	write_text("demangle", "java", "Lorg/example/Main;run([I)V");
	write_text("demangle", "ocaml", "camlStdlib__List__map_1234");
}

/* --- samples of an image ----------------------------------------------------------------- */

static int print_samples(const char *path)
{
	struct recording *rec;
	struct record r;
	const struct event *ev, *first = NULL;
	if (recording_open(&rec, path, NULL))
		return 1;
	while (recording_next(rec, &r, NULL) == 1) {
		if (!first && (ev = recording_event(rec, &r))) {
			const struct event_attr *a = &ev->attr;
			uint64_t words[] = {a->sample_type, a->read_format, a->sample_regs_user,
					    a->sample_regs_intr};
			uint8_t head[8] = {(uint8_t)(rec->swap | 2),
					   (uint8_t)(a->branch_sample_type >> 10)};
			memcpy(head + 4, &a->sample_stack_user, 4);
			fwrite(head, sizeof(head), 1, stdout);
			fwrite(words, sizeof(words), 1, stdout);
			first = ev;
		}
		if (first &&
		    (r.type != PERF_RECORD_SAMPLE || recording_event(rec, &r) == first))
			fwrite(r.p, r.size, 1, stdout);
	}
	recording_close(rec);
	return !first;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--samples"))
		return print_samples(argv[2]);
	if (argc != 2) {
		fputs("usage: seeds DIR | seeds --samples IMAGE\n", stderr);
		return 2;
	}
	top = argv[1];
	make_recordings();
	make_tracepoint();
	make_jitdump();
	make_unwind();
	make_bundle();
	make_store();
	make_texts();
	return 0;
}
