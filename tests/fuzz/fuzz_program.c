/*
 * fuzz_program - the program's verbs, one behind the other in one process, on one input.
 *
 * Input: what the program would be given: a perf.data, a store, folded text. Where there is a
 * second part, it is the ELF file that every recorded path named "prog" leads to (--symfs), and
 * a third is --kallsyms. Nothing that any verb writes may hold a byte that a terminal obeys.
 */
#include "tests/fuzz/asktimeline.h"
#include "tests/fuzz/fuzz.h"

#include "base/hash.h"
#include "base/mem.h"
#include "cmd/verbs.h"
#include "libparse/archive/bundle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGS_MAX = 24, FILES_MAX = 4, PIPE_MAX = 1 << 20 };

static char symfs[128], kallsyms[128], out_svg[128], out_db[128], out_bundle[128];

/* Both texts that a verb writes. The C library's two variables may be set; the sanitizers and
 * libFuzzer write to the descriptors. */
struct capture {
	FILE *f[2], *old[2];
	char *text[2];
	size_t n[2];
};

static void capture_begin(struct capture *c)
{
	c->old[0] = stdout;
	c->old[1] = stderr;
	for (int i = 0; i < 2; i++)
		if (!(c->f[i] = open_memstream(&c->text[i], &c->n[i])))
			abort();
	stdout = c->f[0];
	stderr = c->f[1];
}

/* Of the last verb: did it say that records came too late; its exit status. */
static int said_late, status;

/* Gives a hash of what was on stdout. */
static uint64_t capture_end(struct capture *c, const char *verb)
{
	uint64_t hash = 0;
	said_late = 0;
	stdout = c->old[0];
	stderr = c->old[1];
	for (int i = 0; i < 2; i++) {
		fclose(c->f[i]);
		for (size_t k = 0; k < c->n[i]; k++) {
			uint8_t b = (uint8_t)c->text[i][k];
			if ((b < ' ' && b != '\n' && b != '\t') || b == 0x7f)
				fprintf(stderr, "fuzz: byte %02x in the output of %s\n", b,
					verb);
			fuzz_must((b >= ' ' && b != 0x7f) || b == '\n' || b == '\t',
				  "no control characters in what a verb writes");
		}
		if (!i)
			hash = hash_bytes(c->text[i], c->n[i], 0);
		else
			said_late = !!strstr(c->text[i], "came too late");
		free(c->text[i]);
	}
	return hash;
}

/* As main.c does it. The words are separated by blanks; "FILE" stands for the input. Gives a
 * hash of what was written. */
static uint64_t run(const struct verb *v, const char *file, const char *words)
{
	char text[1024], *argv[ARGS_MAX + 1] = {NULL}, *save = NULL;
	const char *files[FILES_MAX];
	size_t nfiles;
	int argc = 0;
	snprintf(text, sizeof(text), "%s %s", v->name, words);
	for (char *w = strtok_r(text, " ", &save); w && argc < ARGS_MAX;
	     w = strtok_r(NULL, " ", &save))
		argv[argc++] = !strcmp(w, "FILE")       ? (char *)(uintptr_t)file
			       : !strcmp(w, "SYMFS")    ? symfs
			       : !strcmp(w, "KALLSYMS") ? kallsyms
			       : !strcmp(w, "SVG")      ? out_svg
			       : !strcmp(w, "DB")       ? out_db
			       : !strcmp(w, "BUNDLE")   ? out_bundle
							: w;
	void *opts = mem_zalloc(1, v->options_size);
	struct capture c;
	if (!opts)
		return 0;
	if (v->defaults)
		v->defaults(opts);
	capture_begin(&c);
	int rc = opt_parse(v, argc, argv, opts, files, &nfiles);
	if (!rc)
		rc = v->run(opts, files, nfiles);
	opt_release(v, opts);
	mem_free(opts);
	uint64_t hash = capture_end(&c, v->name);
	/* 2: of the recordings in a store one has to be chosen */
	fuzz_must(rc >= 0 && rc <= 3, "the exit status is one of the contract");
	status = rc;
	return hash;
}

static void run_twice(const struct verb *v, const char *file, const char *words)
{
	uint64_t first = run(v, file, words);
	fuzz_must(run(v, file, words) == first, "the same answer twice");
}

#define WAITS "--offcpu --force --idle --system FILE"
#define SAMPLES "--all-events --all --tid-name --force FILE"
#define PARTS "--csv --p50 --open --force --idle --system FILE"
#define PACKED "--no-local --symfs SYMFS --buildid-dir SYMFS "
#define LOCAL "--no-local --symfs SYMFS --kallsyms KALLSYMS --buildid-dir SYMFS "

static void run_all(const char *file)
{
	run(&verb_collapse, file, LOCAL "--all-events --all --tid-name FILE");
	run(&verb_timeline, file, LOCAL "--force -o SVG FILE");
	run(&verb_tail, file, LOCAL "--force --top 3 --open --idle --system FILE");
	run(&verb_doctor, file, LOCAL "FILE");
	run(&verb_report, file, LOCAL "FILE");
}

static void run_store(const char *file)
{
	run(&verb_tail, file, "--force --top 3 --open --idle --system FILE");
	run(&verb_collapse, file, "--offwake --force --idle --system FILE");
	run(&verb_timeline, file, "--force -o SVG FILE");
	run(&verb_report, file, "FILE");
}

static void run_pictures(const char *file)
{
	run(&verb_svg, file, "--no-local --force -o SVG FILE"); /* folded text too */
	run(&verb_svg, file, LOCAL "--force --wall --inverted --color dso -o SVG FILE");
	run(&verb_svg, file, LOCAL "--force --chain --idle -o SVG FILE");
	run(&verb_svg, file, LOCAL "--force --tail-diff --top 0 -o SVG FILE");
}

static void run_tails(const char *file)
{
	run(&verb_tail, file, LOCAL "--force --json --top 5 --open --by activation FILE");
	run(&verb_tail, file,
	    LOCAL "--force --csv --top 5 --group holder --svg SVG --flame SVG --hist FILE");
	run(&verb_tail, file,
	    LOCAL "--force --p50 --by span --span s=sched:sched_switch..sched:sched_waking "
		  "--span syscalls --span contention FILE");
}

/* A pipe that holds the whole file, or -1 where none holds so much. */
static int pipe_of(const uint8_t *p, size_t n)
{
	int ends[2];
	if (n > PIPE_MAX || pipe(ends))
		return -1;
	int whole = fcntl(ends[1], F_SETPIPE_SZ, PIPE_MAX) >= (int)n &&
		    write(ends[1], p, n) == (ssize_t)n;
	close(ends[1]);
	if (whole)
		return ends[0];
	close(ends[0]);
	return -1;
}

/* The same question of standard input. A stream's late records are moved, a file's are sorted.
 */
static void run_piped(const char *file, const uint8_t *p, size_t n, const char *words)
{
	uint64_t of_file = run(&verb_collapse, file, words);
	int late = said_late, in = pipe_of(p, n), old = in < 0 ? -1 : dup(STDIN_FILENO);
	if (old >= 0 && dup2(in, STDIN_FILENO) >= 0) {
		uint64_t piped = run(&verb_collapse, "-", words);
		fuzz_must(late || said_late || piped == of_file,
			  "standard input is answered as a file is");
		dup2(old, STDIN_FILENO);
	}
	if (old >= 0)
		close(old);
	if (in >= 0)
		close(in);
}

static void run_bundle(const char *file)
{
	unlink(out_bundle);
	run(&verb_pack, file, PACKED "-o BUNDLE FILE");
	if (access(out_bundle, F_OK))
		return;
	uint64_t of_file = run(&verb_collapse, file, PACKED WAITS);
	fuzz_must(run(&verb_collapse, out_bundle, "--no-local --no-cache " WAITS) == of_file,
		  "a bundle answers as its recording does");
	run(&verb_collapse, out_bundle,
	    "--no-local --no-cache --srcline --simplify --force FILE");
}

/* What names no file in its answer. */
static void compare_store(const char *file)
{
	static const struct {
		const struct verb *verb;
		const char *of_store, *of_file;
	} asked[] = {
		{&verb_collapse, WAITS, LOCAL WAITS},
		{&verb_collapse, SAMPLES, LOCAL SAMPLES},
		{&verb_tail, PARTS, LOCAL PARTS},
	};
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		uint64_t kept = run(asked[i].verb, out_db, asked[i].of_store);
		fuzz_must(status != 1, "what import writes can be read");
		fuzz_must(run(asked[i].verb, file, asked[i].of_file) == kept,
			  "a store answers as its recording does");
	}
}

static void run_kept(const char *file, const uint8_t *p, size_t n)
{
	unlink(out_db);
	run(&verb_import, file, LOCAL "--force -o DB FILE");
	if (!access(out_db, F_OK)) {
		compare_store(file);
		ask_store(out_db);
		run_store(out_db);
	}
	run_bundle(file);
	run_piped(file, p, n, LOCAL WAITS);
	run_piped(file, p, n, LOCAL SAMPLES);
}

static void run_again(const char *file)
{
	run_twice(&verb_collapse, file, LOCAL "--all-events --all --tid-name --srcline FILE");
	run_twice(&verb_collapse, file, LOCAL "--offcpu --force --idle --system FILE");
	run_twice(&verb_tail, file, LOCAL "--force --json --top 3 --open --idle --system FILE");
	run_twice(&verb_doctor, file, LOCAL "--json FILE");
}

/* What is asked of every input, and one of the longer stories, which its length chooses. */
static void run_recording(const char *file, const uint8_t *p, size_t n)
{
	run_all(file);
	if (n % 4 == 0)
		run_pictures(file);
	else if (n % 4 == 1)
		run_tails(file);
	else if (n % 4 == 2)
		run_kept(file, p, n);
	else
		run_again(file);
}

static void set_paths(void)
{
	char prog[160];
	const char *d = fuzz_dir();
	if (*symfs)
		return;
	snprintf(symfs, sizeof(symfs), "%s/symfs", d);
	snprintf(prog, sizeof(prog), "%s/bin", symfs);
	if (mkdir(symfs, 0755) || mkdir(prog, 0755))
		abort();
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", d);
	snprintf(out_svg, sizeof(out_svg), "/dev/null");
	snprintf(out_db, sizeof(out_db), "%s/run.db", d);
	snprintf(out_bundle, sizeof(out_bundle), "%s/run.tar.zst", d);
}

/* What begins with no symbol would be refused, and with it all that is asked. */
static void put_kallsyms(const uint8_t *p, size_t n)
{
	static const char first[] = "0000000000000001 t first\n";
	uint8_t *text = mem_alloc(sizeof(first) + n);
	if (!text)
		return;
	memcpy(text, first, sizeof(first) - 1);
	if (n)
		memcpy(text + sizeof(first) - 1, p, n);
	fuzz_file("kallsyms", text, sizeof(first) - 1 + n);
	mem_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	size_t main_n, prog_n = 0, syms_n = 0;
	uint8_t *input = fuzz_part(&p, &n, &main_n), *prog = fuzz_part(&p, &n, &prog_n),
		*syms = fuzz_part(&p, &n, &syms_n);
	char path[128];
	set_paths();
	fuzz_file("symfs/bin/prog", prog ? prog : input, prog_n);
	put_kallsyms(syms, syms_n);
	/* compressed bundles are fuzz_bundle's */
	if (!bundle_detect(input, main_n)) {
		snprintf(path, sizeof(path), "%s", fuzz_file("input", input, main_n));
		if (main_n > 16 && !memcmp(input, "SQLite format 3", 16))
			run_store(path);
		else
			run_recording(path, input, main_n);
	}
	mem_free(syms);
	mem_free(prog);
	mem_free(input);
	return 0;
}
