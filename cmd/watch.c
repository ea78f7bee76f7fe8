/*
 * watch.c - `perfkit watch`: spikes, while they happen.
 */
#include "cmd/cli/say.h"
#include "cmd/verbs.h"
#include "cmd/answer/watch_run.h"
#include "cmd/input/sandbox.h"
#include "render/text/units.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(field) offsetof(struct watch_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Which waits are spikes"),
	{"over", 0, OPT_STRING, AT(over), "DURATION",
	 "those at least this long: 50us, 2ms (default 1ms)"},
	{"warn", 0, OPT_STRING, AT(warn), "DURATION", "spikes at least this long are warnings"},
	{"crit", 0, OPT_STRING, AT(crit), "DURATION", "spikes at least this long are critical"},
	{"comm", 0, OPT_LIST, AT(wait.tl.in.comms), "GLOB,...",
	 "only threads with these names"},
	{"pid", 0, OPT_LIST, AT(wait.tl.in.pids), "PID,...", "only these processes"},
	{"tid", 0, OPT_LIST, AT(wait.tl.in.tids), "TID,...", "only these threads"},
	{"unclear", 0, OPT_FLAG, AT(unclear), NULL,
	 "also unclear waits: perhaps at rest, perhaps work"},
	{"system", 0, OPT_FLAG, AT(wait.system), NULL, "also kernel threads and perf itself"},
	{"causes", 0, OPT_STRING, AT(wait.tl.causes), "FILE",
	 "more rules for causes, as for perfkit tail"},
	{"idle-frame", 0, OPT_EACH, AT(wait.tl.idle_frames), "RE",
	 "waits whose innermost function of the application\nmatches RE are at rest "
	 "(repeatable)"},
	{"work-frame", 0, OPT_EACH, AT(wait.tl.work_frames), "RE",
	 "waits with a function matching RE are work\n(anywhere on the stack; repeatable)"},
	{"most", 0, OPT_INT, AT(most), "N",
	 "print at most N spikes a second (default 20),\nthen only the longest of each answer; "
	 "all are "
	 "counted"},
	OPT_HEADING("What is kept"),
	{"window", 0, OPT_STRING, AT(window), "DURATION",
	 "how far back an explanation can reach (default 10s)"},
	{"memory", 0, OPT_STRING, AT(memory), "MB",
	 "the most memory for records (default 16);\ntoo little shortens the window"},
	{"save", 0, OPT_OUTPUT, AT(save), "DIR",
	 "write what surrounds a spike to DIR/spike-TIME.data\n(also on SIGUSR2)"},
	{"before", 0, OPT_STRING, AT(before), "DURATION",
	 "begin this long before the spike (default 5s)"},
	{"after", 0, OPT_STRING, AT(after), "DURATION",
	 "end this long after the spike (default 1s)"},
	{"keep", 0, OPT_INT, AT(keep), "N",
	 "keep only the newest N of these files (default 20)"},
	OPT_HEADING("Output"),
	{"prom", 0, OPT_OUTPUT, AT(prom), "FILE", "keep sums in FILE, for node_exporter"},
	{"status", 0, OPT_INT, AT(status), "SECONDS",
	 "print lag and memory on stderr this often (default 60)\n(0: only at the end)"},
	SANDBOX_OPTION(AT(wait.tl.in.no_sandbox)),
	OPT_END,
};

static int usage(const char *option, const char *value)
{
	say_line("perfkit watch: --%s: '%s' is no duration like 50us or 2ms (see: perfkit help "
		 "watch)",
		 option, value);
	return 2;
}

struct duration {
	const char *option, *text, *normal; /* NULL: 0 */
	uint64_t *to;
};

static int read_durations(const struct watch_opts *o, struct watch_plan *p)
{
	const struct duration all[] = {{"over", o->over, "1ms", &p->query.over_ns},
				       {"warn", o->warn, NULL, &p->query.warn_ns},
				       {"crit", o->crit, NULL, &p->query.crit_ns},
				       {"window", o->window, "10s", &p->limits.ns},
				       {"before", o->before, "5s", &p->before_ns},
				       {"after", o->after, "1s", &p->after_ns}};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const char *text = all[i].text ? all[i].text : all[i].normal;
		*all[i].to = 0;
		if (text && units_parse_duration(text, all[i].to))
			return usage(all[i].option, text);
	}
	return 0;
}

static int check(const struct watch_opts *o, struct watch_plan *p)
{
	char *end;
	struct stat st;
	unsigned long mb = o->memory ? strtoul(o->memory, &end, 10) : 16;
	const char *wrong = NULL;
	if (o->memory && (*end || mb < 2 || mb > 1 << 16))
		wrong = "--memory is a number of MB from 2 on";
	else if (o->keep < 1 || o->most < 1 || o->status < 0)
		wrong = "--keep and --most must be at least 1, --status at least 0";
	else if (p->limits.ns < 2000000000)
		wrong = "--window must be at least 2s";
	else if (o->save && (stat(o->save, &st) || !S_ISDIR(st.st_mode)))
		wrong = "--save needs a folder that exists";
	if (wrong)
		say_line("perfkit watch: %s (see: perfkit help watch)", wrong);
	p->limits.bytes = (uint64_t)mb * 1000000;
	return wrong ? 2 : 0;
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	struct watch_opts o = *(const struct watch_opts *)opts;
	struct watch_plan plan = {.opt = &o, .query.most = (size_t)o.most};
	const char *path = nfiles ? files[0] : "-";
	int rc = read_durations(&o, &plan);
	rc = rc ? rc : check(&o, &plan);
	if (rc)
		return rc;
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (fd < 0) {
		say_line("perfkit watch: %s: cannot be opened", path);
		return 1;
	}
	if (isatty(fd)) {
		say_line("perfkit watch: reads a stream: perf record ... -o - | perfkit watch");
		return 2;
	}
	/* each answer is about a piece of the stream: warnings would repeat every second
	 */
	o.wait.tl.in.quiet = o.wait.tl.in.force = 1;
	o.wait.tl.no_bystanders = 1; /* no line shows them */
	rc = watch_run(&plan, fd);
	if (fd != STDIN_FILENO)
		close(fd);
	return rc;
}

static void defaults(void *opts)
{
	struct watch_opts *o = opts;
	o->keep = o->most = 20;
	o->status = 60;
}

const struct verb verb_watch = {
	.name = "watch",
	.runs_programs = 1,
	.brief = "report spikes while perf records, for days",
	.usage = "[options] [STREAM]",
	.text = "Reads what `perf record ... -o -` writes (standard input by default) in "
		"bounded\n"
		"memory and prints a line for each wait of --over or longer: when, how\n"
		"long, who, the cause, its root as far as it is known, and who ended it.\n\n"
		"Sums are kept for Prometheus with --prom, the records around a spike with "
		"--save.",
	.examples = "  perfkit record watch -p 4711 -- --over 1ms\n"
		    "  perfkit record tail --comm 'nginx*' -o - |\n"
		    "    perfkit watch --crit 20ms --prom /var/lib/node_exporter/perfkit.prom\n"
		    "  perfkit watch --over 50us --save /var/spikes --keep 50 <stream",
	.exits = "3 when the stream cannot answer",
	.tables = {rows},
	.options_size = sizeof(struct watch_opts),
	.max_files = 1,
	.run = run,
	.defaults = defaults,
};
