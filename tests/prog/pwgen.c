/*
 * pwgen.c - images of the perf.data writer for other programs to read.
 *
 *	pwgen CASE        the image on stdout
 *	pwgen -t CASE     what is in it, one line a sample: the truth as text
 *	pwgen -l          the cases
 *
 * The scenario is the same in every case: two threads of "server" (one named with a blank),
 * three samples of two events; the case chooses the container: byte order, attr size, file or
 * pipe, sample_id_all, compression. "fields" has every sample field perf 6.1 knows, "records"
 * every record type.
 */
#include "tests/lib/perfwriter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct image_case {
	const char *name;
	struct pw_config cfg;
	int no_id_all;
	int compress; /* record type */
};

static const struct image_case cases[] = {
	{"plain", {0}},
	{"big-endian", {.big_endian = 1}},
	{"v1", {.mode = PW_FILE_V1, .attr_size = 64}},
	{"attr64", {.attr_size = 64}},
	{"attr72", {.attr_size = 72}},
	{"attr80", {.attr_size = 80}},
	{"attr96", {.attr_size = 96}},
	{"attr104", {.attr_size = 104}},
	{"attr112", {.attr_size = 112}},
	{"attr120", {.attr_size = 120}},
	{"attr96-be", {.attr_size = 96, .big_endian = 1}},
	{"no-id-all", {0}, .no_id_all = 1},
	{"pipe", {.mode = PW_PIPE}},
	{"zstd", {0}, .compress = PW_COMPRESSED},
	{"zstd-straddle", {.zstd_chunk = 50}, .compress = PW_COMPRESSED},
	{"zstd-pipe", {.mode = PW_PIPE, .zstd_chunk = 50}, .compress = PW_COMPRESSED},
	/* what perf 6.1 refuses, and perfkit must not */
	{"new-attr136", {.attr_size = 136}},
	{"new-attr144", {.attr_size = 144}},
	{"new-attr152", {.attr_size = 152}},
	{"new-zstd2", {.zstd_chunk = 50}, .compress = PW_COMPRESSED2},
	{"new-cut", {.cut = 1}},
	/* perf 6.1 forgets to swap the samples of a foreign pipe */
	{"new-pipe-be", {.mode = PW_PIPE, .big_endian = 1}},
};

static const struct {
	size_t event;
	uint32_t tid;
	const char *comm;
	uint64_t time, period, ip;
} samples[] = {
	{0, 7, "server", 1000000200, 250000, 0x401136},
	{1, 8, "io thread", 1000000300, 1, 0x401140},
	{0, 8, "io thread", 1000000400, 0xfedcba9876543210, 0x401144},
};
enum { NSAMPLES = sizeof(samples) / sizeof(*samples) };
static const char *const event_names[] = {"cpu-clock", "page-faults"};

static const struct image_case *find_case(const char *name)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, name))
			return &cases[i];
	return NULL;
}

static void add_events(struct pw *w, int id_all)
{
	static const uint64_t ids[][2] = {{101, 102}, {201, 202}};
	for (size_t i = 0; i < 2; i++)
		pw_attr(w, &(struct pw_attr){
				   .type = 1,
				   .config = i ? 2 : 0,
				   .period = 250000,
				   .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_ID |
						  PW_S_CPU | PW_S_PERIOD | PW_S_CALLCHAIN,
				   .flags = (id_all ? PW_SAMPLE_ID_ALL : 0) | PW_MMAP | PW_COMM,
				   .name = event_names[i],
				   .ids = ids[i],
				   .nids = 2,
			   });
}

static void add_scenario(struct pw *w)
{
	struct pw_id at = {.pid = 7, .tid = 7, .time = 1000000000, .id = 101};
	pw_comm(w, &at, 7, 7, "server", 0);
	pw_mmap(w, &at,
		&(struct pw_mmap){.pid = 7,
				  .tid = 7,
				  .addr = 0x400000,
				  .len = 0x2000,
				  .pgoff = 0x400000,
				  .filename = "/no/such/server"});
	pw_fork(w, &at, 7, 7, 8, 7, 1000000100);
	at.tid = 8;
	pw_comm(w, &at, 7, 8, "io thread", 0);
	for (size_t i = 0; i < NSAMPLES; i++) {
		uint64_t chain[] = {PW_CONTEXT_USER, samples[i].ip, 0x401200};
		pw_sample(w, samples[i].event,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .id = samples[i].event ? 202 : 101,
					      .pid = 7,
					      .tid = samples[i].tid,
					      .cpu = 1,
					      .time = samples[i].time,
					      .period = samples[i].period,
					      .ip = samples[i].ip,
					      .ips = chain,
					      .nips = 3});
	}
}

/* The lines of perf script -F comm,pid,tid,cpu,time,period,event,ip, blanks squeezed. */
static void print_truth(void)
{
	for (size_t i = 0; i < NSAMPLES; i++) {
		printf("%s 7/%u [001] %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s:\n",
		       samples[i].comm, samples[i].tid, samples[i].time / 1000000000,
		       samples[i].time % 1000000000, samples[i].period,
		       event_names[samples[i].event]);
		printf("%" PRIx64 "\n401200\n", samples[i].ip);
	}
}

static void write_case(const struct image_case *c, struct pw *w)
{
	static const char *const argv[] = {"perf", "record", "-g", "server"};
	pw_begin(w, &c->cfg);
	add_events(w, !c->no_id_all);
	pw_feature_string(w, PW_FEAT_HOSTNAME, "testhost");
	pw_feature_string(w, PW_FEAT_OSRELEASE, "6.18.0");
	pw_feature_string(w, PW_FEAT_VERSION, "6.1.0");
	pw_feature_string(w, PW_FEAT_ARCH, "x86_64");
	pw_feature_nrcpus(w, 2, 4);
	pw_feature_cmdline(w, argv, 4);
	if (c->cfg.mode != PW_FILE_V1)
		pw_feature_event_desc(w);
	if (c->compress)
		pw_compress_begin(w, c->compress);
	add_scenario(w);
	if (c->compress)
		pw_compress_end(w);
	pw_finished_round(w);
}

/* One sample of every layout; values as in tests/cli/perfwriter.sh. */
static void write_fields(struct pw *w, int big_endian)
{
	static const uint64_t ids[] = {101}, regs[] = {0xaa01, 0xaa02, 0xaa03};
	static const struct pw_branch lbr[] = {
		{0x401010, 0x401020, .mispred = 1, .cycles = 7},
		{0x401030, 0x401040, .predicted = 1, .cycles = 300}};
	static const struct pw_read_value values[] = {{1234, 101, 3}};
	uint64_t chain[] = {PW_CONTEXT_USER, 0x401136};
	pw_begin(w, &(struct pw_config){.big_endian = big_endian});
	pw_attr(w, &(struct pw_attr){
			   .type = 1,
			   .sample_type = (1u << PW_S_BITS) - 1 - PW_S_WEIGHT - PW_S_AUX,
			   .read_format =
				   PW_R_TIME_ENABLED | PW_R_TIME_RUNNING | PW_R_ID | PW_R_LOST,
			   .flags = PW_SAMPLE_ID_ALL,
			   .branch_sample_type =
				   PW_BRANCH_USER | PW_BRANCH_ANY | PW_BRANCH_HW_INDEX,
			   .regs_user = 1 << 6 | 1 << 7 | 1 << 8,
			   .regs_intr = 1 << 0 | 1 << 8,
			   .stack_user = 16,
			   .name = "cpu-clock",
			   .ids = ids,
			   .nids = 1,
		   });
	pw_feature_string(w, PW_FEAT_ARCH, "x86_64");
	pw_feature_event_desc(w);
	pw_comm(w, &(struct pw_id){.pid = 7, .tid = 7, .id = 101}, 7, 7, "server", 0);
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .id = 101,
				      .stream_id = 55,
				      .pid = 7,
				      .tid = 8,
				      .cpu = 1,
				      .time = 5000000007,
				      .period = 250000,
				      .ip = 0x401136,
				      .addr = 0xdead0,
				      .values = values,
				      .nvalues = 1,
				      .time_enabled = 900,
				      .time_running = 800,
				      .ips = chain,
				      .nips = 2,
				      .raw = "raw bytes",
				      .raw_size = 9,
				      .branches = lbr,
				      .nbranches = 2,
				      .hw_idx = 9,
				      .user_abi = 2,
				      .user_regs = regs,
				      .intr_abi = 2,
				      .intr_regs = regs,
				      .stack = "0123456789abcdef",
				      .stack_size = 16,
				      .stack_dyn = 8,
				      .weight = 0x000300020000000bull,
				      .data_src = 0x1e05080021ull,
				      .txn = 4,
				      .phys_addr = 0x12345000,
				      .cgroup = 77,
				      .data_page_size = 4096,
				      .code_page_size = 2097152});
}

static void write_kernel_records(struct pw *w, const struct pw_id *at)
{
	static const uint64_t ns[] = {3, 0xf0000001, 3, 0xf0000002};
	static const uint8_t id[20] = {0xab, 1, 2, 3};
	struct pw_mmap map = {.pid = 7,
			      .tid = 7,
			      .addr = 0x400000,
			      .len = 0x1000,
			      .prot = 5,
			      .flags = 2,
			      .maj = 8,
			      .min = 1,
			      .ino = 99,
			      .filename = "/no/such/server"};
	pw_comm(w, at, 7, 7, "server", 1);
	pw_mmap(w, at, &map);
	pw_mmap2(w, at, &map);
	map.build_id = id;
	map.build_id_size = 20;
	pw_mmap2(w, at, &map);
	pw_fork(w, at, 7, 7, 8, 7, 20);
	pw_lost(w, at, 101, 5);
	pw_lost_samples(w, at, 6);
	pw_throttle(w, at, PW_THROTTLE, 21, 101, 101);
	pw_throttle(w, at, PW_UNTHROTTLE, 22, 101, 101);
	pw_read(w, at, 0, 7, 7,
		&(struct pw_sample){.values = &(struct pw_read_value){12, 101, 0},
				    .nvalues = 1,
				    .time_enabled = 3,
				    .time_running = 2});
	pw_aux(w, at, 0, 64, 1);
	pw_itrace_start(w, at, 7, 7);
	pw_switch(w, at, PW_MISC_SWITCH_OUT | PW_MISC_SWITCH_OUT_PREEMPT);
	pw_switch_cpu_wide(w, at, PW_MISC_SWITCH_OUT, 9, 10);
	pw_namespaces(w, at, 7, 7, ns, 2);
	pw_ksymbol(w, at, 0xffffffffc0001000, 128, 1, 0, "bpf_prog_0123456789abcdef_hello");
	pw_bpf_event(w, at, 1, 0, 42, (const uint8_t *)"\1\2\3\4\5\6\7\10");
	pw_cgroup(w, at, 77, "/system.slice");
	pw_text_poke(w, at, 0xffffffff81000100, "\x90\x90", 2, "\xeb\xfe", 2);
	pw_aux_output_hw_id(w, at, 12);
	pw_exit(w, at, 7, 7, 8, 7, 30);
}

static void write_records(struct pw *w)
{
	static const uint64_t ids[] = {101}, index[] = {101, 0, 0, 7};
	static const uint64_t pids[] = {7}, config[] = {0, 1};
	static const uint16_t cpus[] = {0, 1};
	static const char *const comms[] = {"server"};
	struct pw_id at = {.pid = 7, .tid = 7, .time = 10, .id = 101};
	pw_begin(w, &(struct pw_config){0});
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_ID,
				     .read_format = PW_R_TIME_ENABLED | PW_R_TIME_RUNNING,
				     .flags = PW_SAMPLE_ID_ALL,
				     .name = "cpu-clock",
				     .ids = ids,
				     .nids = 1});
	pw_feature_event_desc(w);
	pw_thread_map(w, pids, comms, 1);
	pw_cpu_map(w, cpus, 2);
	pw_id_index(w, index, 1);
	pw_event_update_name(w, 101, "renamed");
	pw_time_conv(w, 10, 1000, 5);
	pw_stat_config(w, config, 1);
	pw_stat(w, 101, 0, 0, 5, 6, 7);
	pw_stat_round(w, 0, 40);
	pw_finished_init(w);
	write_kernel_records(w, &at);
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = 0x400010,
				      .pid = 7,
				      .tid = 7,
				      .time = 25,
				      .id = 101});
	pw_finished_round(w);
}

static int write_image(const char *name)
{
	struct pw w;
	struct buf image = {0};
	const struct image_case *c = find_case(name);
	if (c)
		write_case(c, &w);
	else if (!strcmp(name, "records"))
		write_records(&w);
	else
		write_fields(&w, !strcmp(name, "fields-be"));
	int rc = pw_finish(&w, &image);
	if (!rc && fwrite(image.v, 1, image.n, stdout) != image.n)
		rc = 1;
	buf_release(&image);
	return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "-l")) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			puts(cases[i].name);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "-t")) {
		print_truth();
		return 0;
	}
	if (argc == 2)
		return write_image(argv[1]);
	fputs("usage: pwgen [-t] CASE | -l\n", stderr);
	return 2;
}
