/* options.c - why each option exists, and what slips of the finger mean. */
#include "cmd/cli/options.h"
#include "render/text/fill.h"

#include <string.h>

/* Sorted by name. Columns: name, rare, why. */
static const struct option_use uses[] = {
	{"addrs", 1, "an unnamed address can be looked up with another tool"},
	{"after", 1, "a spike may be followed by what explains it"},
	{"against", 0, "what a change made slower is a comparison, not a list"},
	{"all", 0, "the culprit may be outside the program: a neighbour, the kernel"},
	{"all-events", 0, "one recording may hold several events"},
	{"also", 0, "interrupts, faults and disks cost more to record than switches"},
	{"arrows", 1, "dense pictures become unreadable"},
	{"asm", 0, "what a line costs is in its instructions"},
	{"before", 1, "a spike may have begun long ago"},
	{"before-dir", 1, "the text of the build before is another one"},
	{"before-git", 1, "the text of the build before is another commit's"},
	{"begin", 0, "only its author knows where a request begins"},
	{"bgcolors", 1, "flamegraph.pl has it"},
	{"brief", 0, "an agent, or a message, has room for two kilobytes"},
	{"budget", 0, "what reads the answer has room for so much"},
	{"buildid-dir", 0,
	 "binaries of the server are in a folder of build-ids, or a perf archive"},
	{"buildid-mmap", 1, "containers have different files at one path"},
	{"by", 0, "a wait, a request and a function are different questions"},
	{"by-cgroup", 1, "pprof can group by container"},
	{"by-label", 0, "pprof can group by what was served"},
	{"by-time", 0, "some questions are about order, not sums"},
	{"call-graph", 1, "perf's name of --stacks"},
	{"cause", 0, "a lock and a disk are looked into by different people"},
	{"causes", 0, "a program's own ways to wait are not in the built-in table"},
	{"cgroup", 0, "a container has no fixed pid"},
	{"chain", 0, "the waker often only passes on what it waited for itself"},
	{"color", 0, "a picture's colours carry one meaning at a time"},
	{"comm", 0, "threads have names, and names outlive pids"},
	{"constructors", 1, "copies cost more than other constructors"},
	{"control", 1, "a virtual machine has gaps of its own"},
	{"countname", 1, "flamegraph.pl has it"},
	{"cp", 1, "flamegraph.pl has it"},
	{"cpu", 0, "latency is often that of chosen CPUs"},
	{"cpus", 0, "co-runners are seen on CPUs"},
	{"crit", 1, "monitoring has two thresholds"},
	{"csv", 0, "spreadsheets and scripts"},
	{"details", 0, "one explained episode may not be the one in question"},
	{"diff", 0, "two builds are compared as pictures"},
	{"directory", 0, "the folder is not always the bundle's name"},
	{"dry-run", 0, "the line is run by somebody else, or reviewed"},
	{"duration", 0, "a server does not end"},
	{"end", 0, "a request may end in another function than it began"},
	{"end-key", 1, "the key may be in another register at the end"},
	{"episode", 1, "an answer named one, and the next question is about it"},
	{"event", 0, "a recording may hold several"},
	{"every", 0, "a table per second shows when"},
	{"exec", 0, "functions are in a library"},
	{"expected", 1, "a program that polls sees only some gaps"},
	{"factor", 1, "flamegraph.pl has it"},
	{"fail-on", 0, "a build must fail by itself where it became slower"},
	{"filter", 0, "a table can have thousands of rows"},
	{"flame", 0, "what the worst episodes have in common is a picture"},
	{"flamechart", 0, "a few threads in time, without switches recorded"},
	{"fontsize", 1, "flamegraph.pl has it"},
	{"fonttype", 1, "flamegraph.pl has it"},
	{"fontwidth", 1, "flamegraph.pl has it"},
	{"for", 0, "a recording is judged by the question"},
	{"for-perf", 1, "the line runs on a machine with another perf"},
	{"force", 0, "what cannot be trusted may still be worth a look"},
	{"format", 0, "people, builds and comments read different forms"},
	{"freq", 0, "cost and resolution of CPU samples"},
	{"functions", 0, "a page with the source of everything is large"},
	{"gaps-only", 1, "a machine without perf"},
	{"git", 0, "what runs on the server is not what is checked out here"},
	{"group", 0, "the same episodes by cause, thread or holder"},
	{"hash", 1, "flamegraph.pl has it"},
	{"height", 1, "flamegraph.pl has it"},
	{"hist", 0, "two modes hide behind one percentile"},
	{"html", 0, "the episodes and their report in one run"},
	{"idle", 0, "what is taken for rest may be meant"},
	{"idle-frame", 0, "a program's own loop is not in the built-in table"},
	{"in-tail", 0, "what slow requests do more of than others"},
	{"influx", 1, "samplers' format of one database"},
	{"inherit", 1, "threads that start later"},
	{"inline", 1, "stackcollapse-perf.pl has it"},
	{"inlines", 0, "an inlined function has lines of its own"},
	{"input", 0, "scripts name the file as perf does"},
	{"inverted", 0, "the root on top, as other tools draw it"},
	{"jit", 1, "stackcollapse-perf.pl has it"},
	{"json", 0, "other programs read the answer"},
	{"kallsyms", 0, "kernel names of another machine"},
	{"keep", 0, "disks are finite"},
	{"keep-trampolines", 1, "each trampoline is one value of a label"},
	{"kernel", 1, "stackcollapse-perf.pl has it"},
	{"kernel-callchains", 1, "the kernel's side alone"},
	{"key", 0, "one slow request, known by its id"},
	{"label", 0, "what was served: a route, a customer"},
	{"least", 0, "what is too small to matter need not be told from chance"},
	{"like", 0, "the next recording is the last one, corrected"},
	{"list", 0, "what would be done is looked at before it costs anything"},
	{"max-cpu", 1, "a busy service has little to spare"},
	{"max-memory", 1, "a small machine, or a very large recording"},
	{"max-rate", 0, "a server in production must not notice that it is recorded"},
	{"max-size", 1, "a page that a browser must load"},
	{"max-stack", 1, "recursion thousands of frames deep"},
	{"measure", 1, "an estimate that the counts alone do not give"},
	{"memory", 1, "a small machine"},
	{"merge-threads", 0, "a pool's threads differ in number only"},
	{"min-share", 1, "a bundle without the rare binaries"},
	{"minwidth", 0, "how much detail a picture keeps"},
	{"mmap-pages", 1, "events were lost, or memory is short"},
	{"most", 1, "a storm of spikes"},
	{"nametype", 1, "flamegraph.pl has it"},
	{"negate", 1, "flamegraph.pl has it"},
	{"no-cache", 1, "a damaged cache, or a read-only home"},
	{"no-demangle", 0, "names as the linker has them"},
	{"no-estimate", 1, "scripts, where nothing is to be counted"},
	{"no-inline", 0, "functions as the linker has them"},
	{"no-local", 0, "the same answer on every machine"},
	{"no-lock-owner", 1, "a probe that a policy forbids"},
	{"no-names", 0, "a fleet stores names once, not in each table"},
	{"no-sandbox", 1, "a kernel or container where it does not work"},
	{"no-script", 1, "a page that forbids scripts"},
	{"no-unclear", 0, "alarms want no doubtful waits"},
	{"no-vanished", 1, "what is gone fills the picture"},
	{"normalize", 1, "BEFORE and AFTER did the same work"},
	{"notes", 1, "flamegraph.pl has it"},
	{"off-cpu-thresh", 1, "switches cost too much to record"},
	{"offcpu", 0, "waiting instead of CPU time"},
	{"offwake", 0, "who ended the wait"},
	{"open", 0, "the worst episode may have no end yet"},
	{"outermost", 1, "recursion counts a span twice"},
	{"output", 0, "results are files"},
	{"over", 0, "a limit in time, such as a promise to a customer"},
	{"p50", 1, "a spelling of --pN"},
	{"p90", 1, "a spelling of --pN"},
	{"p95", 1, "a spelling of --pN"},
	{"p99", 1, "a small recording has no 99.9th percentile"},
	{"p999", 0, "how bad an episode must be; any --pN works"},
	{"p9999", 1, "a spelling of --pN"},
	{"pct", 1, "a spelling of --pN"},
	{"per", 0, "a program that does a fixed amount of work is not a server"},
	{"perf", 1, "several perfs on one machine"},
	{"pid", 0, "processes are known by number"},
	{"pid-name", 0, "one folded stack per process"},
	{"prom", 0, "monitoring reads text files"},
	{"quiet", 0, "scripts"},
	{"random", 1, "flamegraph.pl has it"},
	{"recording", 0, "a store holds several"},
	{"recorder", 1, "what is recorded must be exactly what perf would record"},
	{"region", 0, "each call of a function is a measurement"},
	{"reverse", 0, "who calls a hot function"},
	{"rows", 0, "a terminal's height"},
	{"save", 0, "the records around a spike are explained later"},
	{"seed", 1, "flamegraph.pl has it"},
	{"simplify", 0, "templates hide that frames are equal"},
	{"since", 0, "a fleet's tables hold months"},
	{"site", 1, "an answer named the place where it waits"},
	{"sort", 0, "a table has one order"},
	{"source-dir", 0, "the source tree is not where the program was built"},
	{"source-map", 0, "the same, if directories have other names"},
	{"span", 0, "the file's own events delimit a request"},
	{"spin", 0, "a sampler needs its CPUs named"},
	{"split", 0, "the first level of a picture is a choice"},
	{"sql", 0, "another engine than DuckDB"},
	{"srcline", 0, "a function is long"},
	{"stacks", 0, "dumps cost most of a recording; answers cost lines"},
	{"state", 0, "blocked and runnable have different cures"},
	{"stats", 0, "what a file holds, record by record"},
	{"status", 0, "a watcher must be seen to live"},
	{"strict", 0, "CI wants no warning overlooked"},
	{"subtitle", 1, "flamegraph.pl has it"},
	{"svg", 0, "the episodes and their picture in one run"},
	{"symfs", 0, "binaries of the server are below a folder"},
	{"system", 0, "kernel threads may be the culprit"},
	{"tail", 0, "a picture of the worst only"},
	{"tail-diff", 0, "what only the worst do"},
	{"threads", 0, "a picture without CPUs"},
	{"threshold", 1, "short gaps are the machine's own"},
	{"tid", 0, "threads are known by number"},
	{"tid-name", 0, "one folded stack per thread"},
	{"time", 0, "an incident has a beginning and an end"},
	{"timeout", 1, "a question may be too large for its asker"},
	{"title", 0, "a picture is passed on without its command"},
	{"to", 0, "the format of another tool"},
	{"top", 0, "how many"},
	{"total", 1, "flamegraph.pl has it"},
	{"trust-paths", 1, "no build-ids were recorded"},
	{"unclear", 1, "waits that may be rest, watched all the same"},
	{"unit", 0, "folded counts have no unit of their own"},
	{"user-callchains", 1, "the program's side alone"},
	{"verbose", 0, "what perfkit did"},
	{"vmlinux", 0, "kernel names of another machine, with inlined calls"},
	{"wall", 0, "running and waiting in one picture"},
	{"warn", 0, "monitoring wants a first threshold"},
	{"weight", 0, "periods or counts"},
	{"where", 0, "one kind of request"},
	{"why", 1, "the rule behind a verdict"},
	{"width", 0, "screens and slides"},
	{"window", 0, "how far back a cause can be"},
	{"with", 0, "what a program logged is on no event"},
	{"with-source", 0, "a laptop has no source tree"},
	{"work-frame", 0, "a wait that looks like rest may be a request's"},
};
enum { USES = sizeof(uses) / sizeof(*uses) };

const struct option_use *option_use(const char *name)
{
	size_t low = 0, high = USES;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(name, uses[mid].name);
		if (!order)
			return &uses[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static int has_option(const struct verb *v, const char *name)
{
	for (int t = 0; t < OPT_TABLES && v->tables[t]; t++)
		for (const struct opt *o = v->tables[t]; o->name; o++)
			if (!strcmp(o->name, name) && opt_is_shown(v, o))
				return 1;
	return 0;
}

/* "  --kallsyms          kernel names of another machine (9 commands)" */
static void add_use(struct buf *out, const struct option_use *u,
		    const struct verb *const *verbs, size_t n)
{
	enum { LEFT = 23 };
	struct buf text = {0};
	size_t has = 0;
	for (size_t i = 0; i < n; i++)
		has += (size_t)has_option(verbs[i], u->name);
	buf_fmt(&text, "%s (", u->why);
	if (has > 3)
		buf_fmt(&text, "%zu commands", has);
	for (size_t i = 0, said = 0; i < n && has <= 3; i++)
		if (has_option(verbs[i], u->name))
			buf_fmt(&text, "%s%s", said++ ? ", " : "", verbs[i]->name);
	buf_char(&text, ')');
	buf_fmt(out, "  --%-18s ", u->name);
	fill_text(out, LEFT, LEFT, buf_cstr(&text));
	buf_release(&text);
}

void options_print(FILE *f, const struct verb *const *verbs, size_t n)
{
	struct buf b = {0};
	for (int rare = 0; rare < 2; rare++) {
		buf_str(&b, rare ? "\nRarely needed:\n"
				 : "Options, and why there are such (perfkit COMMAND --help "
				   "--all explains them):\n");
		for (size_t i = 0; i < USES; i++)
			if (uses[i].rare == rare)
				add_use(&b, &uses[i], verbs, n);
	}
	fputs(buf_cstr(&b), f);
	buf_release(&b);
}

const char *option_meant(const char *typed, size_t n)
{
	/* perf's letters and other tools' words; one word may mean several options, of which the
	 * verb has one */
	static const char *const meant[][2] = {
		{"a", "all"},
		{"C", "cpu"},
		{"F", "freq"},
		{"G", "cgroup"},
		{"g", "stacks"},
		{"j", "json"},
		{"m", "mmap-pages"},
		{"n", "top"},
		{"o", "output"},
		{"p", "pid"},
		{"s", "sort"},
		{"t", "tid"},
		{"baseline", "against"},
		{"call-graph", "stacks"},
		{"callgraph", "stacks"},
		{"compare", "against"},
		{"container", "cgroup"},
		{"count", "top"},
		{"frequency", "freq"},
		{"format", "json"},
		{"from", "time"},
		{"interval", "every"},
		{"limit", "top"},
		{"longer", "over"},
		{"min", "over"},
		{"name", "comm"},
		{"out", "output"},
		{"percentile", "pct"},
		{"pod", "cgroup"},
		{"process", "pid"},
		{"range", "time"},
		{"symbols", "symfs"},
		{"system-wide", "all"},
		{"thread", "tid"},
	};
	for (size_t i = 0; i < sizeof(meant) / sizeof(*meant); i++)
		if (strlen(meant[i][0]) == n && !strncmp(meant[i][0], typed, n))
			return meant[i][1];
	return NULL;
}
