/* libsym: what a mapping stands for: whose symbols name its addresses, and when nobody's do. A
 * wrong name is worse than an address. Truth: recordings and files written here. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/smallelf.h"
#include "tests/lib/temptree.h"

#include "libsym/pack_list.h"
#include "libsym/profile.h"

#include <unistd.h>

/* Of every file that put_elf writes. */
static const uint8_t id[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
			       11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
#define CACHED "/debug/.build-id/01/02030405060708090a0b0c0d0e0f1011121314/"

static struct pw w;
static struct buf image;
static struct profile *profile;

static void begin(void)
{
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME,
				      .flags = PW_SAMPLE_ID_ALL,
				      .name = "cpu-clock"});
}

/* Mapped before the samples are taken; `m` without what all have. */
static void mapped(uint32_t pid, struct pw_mmap m)
{
	struct pw_id at = {.pid = pid, .tid = pid};
	m.pid = m.tid = pid;
	m.prot = 5;
	m.len = m.len ? m.len : 0x10000;
	pw_mmap2(&w, &at, &m);
}

/* A mapping of the kernel or a module. */
static void kernel_mapped(uint64_t addr, uint64_t pgoff, const char *name)
{
	mapped(UINT32_MAX,
	       (struct pw_mmap){
		       .misc = PW_MISC_KERNEL, .addr = addr, .pgoff = pgoff, .filename = name});
}

/* One sample for each process: it stands at `ip`. */
static void sample(uint16_t misc, uint32_t pid, uint64_t ip)
{
	pw_sample(
		&w, 0,
		&(struct pw_sample){.misc = misc, .ip = ip, .pid = pid, .tid = pid, .time = 9});
}

/* The recording is that folder's; NULL: it is in memory. */
static void fold_in(const char *dir)
{
	struct profile_options opt = {.modules = {.find = {.buildid_dir = in_root("/debug"),
							   .symfs = in_root("/symfs"),
							   .no_local = 1}}};
	struct fold_options how = {.workers = 1, .aggregate.by = BY_PID};
	struct recording *rec;
	struct err e = {0};
	assert_int_equal(pw_finish(&w, &image), 0);
	if (dir) {
		char data[256];
		snprintf(data, sizeof(data), "%s/data", dir);
		put(data, image.v, image.n);
		assert_int_equal(recording_open(&rec, in_root(dir), &e), 0);
	} else {
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	}
	assert_int_equal(profile_of(&profile, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(profile, &how, &e), 0);
}

static void fold(void)
{
	fold_in(NULL);
}

static void end(void)
{
	profile_close(profile);
	buf_release(&image);
}

/* A file of the id above with one function, f, at offsets 0x1000 to 0x1fff. */
static void put_elf(const char *path)
{
	static struct smallelf s;
	static const uint8_t code[0x1000];
	smallelf_init(&s, EM_X86_64);
	smallelf_section(&s, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code,
			 sizeof(code));
	smallelf_symbol(&s, "f", STB_GLOBAL, STT_FUNC, 2, 0x1000, sizeof(code));
	put(path, s.image, smallelf_finish(&s));
}

/* Where the process's sample stands. */
static const struct frame *leaf_of(int32_t pid)
{
	const struct stacks *s = &profile->stacks;
	for (size_t i = 0; i < profile->folded.n; i++)
		if (profile->folded.v[i].pid == pid)
			return &s->frames.v[s->paths.v[profile->folded.v[i].path].frame];
	fail_msg("no sample of process %d", pid);
	return NULL;
}

/* Its name; "" is none. */
static void expect(int32_t pid, const char *name)
{
	assert_string_equal(strtab_get(&profile->stacks.strings, leaf_of(pid)->name), name);
}

static void expect_dso(int32_t pid, const char *dso)
{
	assert_string_equal(strtab_get(&profile->stacks.strings, leaf_of(pid)->dso), dso);
}

/* --- the kernel and its modules ------------------------------------------------------- */

#define TEXT 0xffffffffa0000000u
#define MODULE 0xffffffffc0a00000u

/* A kallsyms of a boot in which the kernel lay `moved` bytes lower. */
static void put_kallsyms(const char *path, uint64_t moved)
{
	static const struct {
		uint64_t addr;
		const char *name;
	} list[] = {{TEXT, "T _text"},
		    {TEXT, "T _stext"},
		    {TEXT + 0x2000, "T do_syscall_64"},
		    {TEXT + 0x3000, "T after"},
		    {TEXT + 0x12000, "T start_kernel"},
		    {TEXT + 0x13000, "T _einittext"},
		    {MODULE + 0x1000, "t xfs_write\t[xfs]"},
		    {MODULE + 0x2000, "t xfs_read\t[xfs]"},
		    {MODULE + 0x11000, "t wifi_send\t[mac80211]"},
		    {MODULE + 0x12000, "t wifi_receive\t[mac80211]"},
		    {MODULE + 0x21000, "t gone_one\t[gone]"},
		    {MODULE + 0x22000, "t gone_two\t[gone]"}};
	char text[1024];
	size_t n = 0;
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%016llx %s\n",
				      (unsigned long long)(list[i].addr - moved), list[i].name);
	put(path, text, n);
}

/* xfs lies where it was; where snd-pcm is now there was another. */
static void sample_the_kernel(const char *dir)
{
	begin();
	kernel_mapped(TEXT, TEXT, "[kernel.kallsyms]_text");
	kernel_mapped(MODULE, 0, "/lib/modules/6.1.0/kernel/fs/xfs/xfs.ko.xz");
	kernel_mapped(MODULE + 0x10000, 0, "/lib/modules/6.1.0/kernel/sound/snd-pcm.ko");
	pw_feature_build_id(&w, PW_MISC_KERNEL, UINT32_MAX, id, sizeof(id),
			    "[kernel.kallsyms]");
	sample(PW_MISC_KERNEL, 1, TEXT + 0x2010);
	sample(PW_MISC_KERNEL, 2, TEXT + 0x12010); /* .init.text is not mapped */
	sample(PW_MISC_KERNEL, 3, MODULE + 0x1010);
	sample(PW_MISC_KERNEL, 4, MODULE + 0x11010);
	sample(PW_MISC_KERNEL, 5, MODULE + 0x21010); /* in no mapping */
	fold_in(dir);
	expect(1, "do_syscall_64");
	expect(2, "start_kernel");
	expect(4, "");
}

static void modules_have_the_names_of_their_own_boot(void **state)
{
	(void)state;
	put_kallsyms(CACHED "kallsyms", 0);
	sample_the_kernel(NULL);
	expect(3, "xfs_write");
	expect(5, "gone_one");
	end();
}

static void modules_have_no_names_of_another_boot(void **state)
{
	(void)state;
	put_kallsyms(CACHED "kallsyms", 0x4000000);
	sample_the_kernel(NULL);
	expect(3, "");
	expect(5, "");
	end();
}

/* perf record --kcore */
static void the_recordings_own_kallsyms_comes_first(void **state)
{
	(void)state;
	put_kallsyms(CACHED "kallsyms", 0x4000000);
	put_kallsyms("/recorded/kcore_dir/kallsyms", 0);
	sample_the_kernel("/recorded");
	expect(3, "xfs_write");
	end();
}

/* It may lead anywhere, and perf makes none. */
static void a_link_is_no_kallsyms_of_the_recording(void **state)
{
	(void)state;
	put_kallsyms(CACHED "kallsyms", 0x4000000);
	put_kallsyms("/elsewhere", 0);
	put("/linked/kcore_dir/kcore", "", 0);
	assert_int_equal(symlink(in_root("/elsewhere"), in_root("/linked/kcore_dir/kallsyms")),
			 0);
	sample_the_kernel("/linked");
	expect(3, "");
	end();
}

/* On arm64 there is the kernel's head between the two; pgoff tells of _stext. */
static void a_kernel_is_placed_by_the_symbol_its_mapping_names(void **state)
{
	(void)state;
	static const char *const listed[] = {"[kernel.kallsyms]",
					     "/usr/lib/debug/boot/vmlinux-6.1.0"};
	static const char list[] = "ffff800080000000 T _text\n"
				   "ffff800080010000 T _stext\n"
				   "ffff800080010100 T first\n"
				   "ffff800080020100 T second\n"
				   "ffff800080030100 T third\n";
	put(CACHED "kallsyms", list, sizeof(list) - 1);
	for (size_t i = 0; i < 2; i++) {
		uint64_t stext = 0xffff800280010000u;
		begin();
		mapped(UINT32_MAX, (struct pw_mmap){.misc = PW_MISC_KERNEL,
						    .addr = stext,
						    .len = 0x100000,
						    .pgoff = stext,
						    .filename = "[kernel.kallsyms]_stext"});
		pw_feature_build_id(&w, PW_MISC_KERNEL, UINT32_MAX, id, sizeof(id), listed[i]);
		sample(PW_MISC_KERNEL, 1, stext + 0x10120);
		fold();
		expect(1, "second");
		end();
	}
}

/* Nothing says where the kernel lay, so a kallsyms is of its boot only if it fits. */
static void a_kernel_without_a_located_symbol_must_fit(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		uint64_t moved = i ? 0x4000000 : 0;
		put_kallsyms(CACHED "kallsyms", moved);
		if (i == 2) /* the next one fits */
			put_kallsyms("/symfs/proc/kallsyms", 0);
		begin();
		mapped(UINT32_MAX, (struct pw_mmap){.misc = PW_MISC_KERNEL,
						    .addr = TEXT,
						    .len = 0x20000,
						    .filename = "[kernel.kallsyms]_text"});
		pw_feature_build_id(&w, PW_MISC_KERNEL, UINT32_MAX, id, sizeof(id),
				    "[kernel.kallsyms]");
		sample(PW_MISC_KERNEL, 1, TEXT + 0x2010);
		sample(PW_MISC_KERNEL, 2, TEXT - 0x4000000 + 0x2010);
		fold();
		expect(1, i == 1 ? "" : "do_syscall_64");
		expect(2, "");
		const char *detail;
		uint32_t dso = profile->machine.maps.v[profile->machine.kernel_map].dso;
		enum dso_reason reason = modules_reason(profile->modules, dso, &detail);
		assert_int_equal(reason, i == 1 ? DSO_UNREADABLE : DSO_FOUND);
		assert_true(i != 1 || strstr(detail, "not where the recorded kernel"));
		end();
	}
}

/* Linux 4.19 maps a page of its text once more for each CPU; perf names it by that text. */
static void the_entry_trampoline_is_the_kernels_code(void **state)
{
	(void)state;
	for (uint64_t moved = 0; moved <= 0x4000000; moved += 0x4000000) {
		put_kallsyms(CACHED "kallsyms", moved);
		begin();
		kernel_mapped(TEXT, TEXT, "[kernel.kallsyms]_text");
		pw_feature_build_id(&w, PW_MISC_KERNEL, UINT32_MAX, id, sizeof(id),
				    "[kernel.kallsyms]");
		for (uint32_t cpu = 1; cpu <= 2; cpu++) {
			uint64_t at = 0xfffffe0000006000u + cpu * 0x2c000;
			kernel_mapped(at, TEXT + 0x2000, "__entry_SYSCALL_64_trampoline");
			sample(PW_MISC_KERNEL, cpu, at + 0x10);
		}
		fold();
		for (int32_t cpu = 1; cpu <= 2; cpu++) {
			expect(cpu, "do_syscall_64");
			expect_dso(cpu, "[kernel.kallsyms]");
		}
		end();
	}
}

/* --- the vdso ------------------------------------------------------------------------- */

static void the_vdso_is_mapped_from_its_start_whatever_the_kernel_says(void **state)
{
	(void)state;
	put_elf(CACHED "vdso");
	begin();
	for (uint32_t pid = 1; pid <= 2; pid++) {
		uint64_t at = 0x7fff00000000u + pid * 0x100000;
		mapped(pid, (struct pw_mmap){.addr = at,
					     .pgoff = pid == 1 ? 0 : at, /* before 4.3 */
					     .filename = "[vdso]"});
		sample(PW_MISC_USER, pid, at + 0x1004);
	}
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), "[vdso]");
	fold();
	expect(1, "f");
	expect(2, "f");
	end();
}

static void a_32_bit_vdso_is_another_file(void **state)
{
	(void)state;
	static const uint8_t other[20] = {9};
	put_elf(CACHED "vdso");
	for (int of_32_bit = 0; of_32_bit < 2; of_32_bit++) {
		begin();
		pw_feature_string(&w, PW_FEAT_ARCH, "x86_64");
		pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, of_32_bit ? other : id,
				    sizeof(id), "[vdso]");
		pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, of_32_bit ? id : other,
				    sizeof(id), "[vdso32]");
		mapped(1, (struct pw_mmap){.addr = 0x7fff00000000u, .filename = "[vdso]"});
		mapped(2, (struct pw_mmap){.addr = 0xf7f00000u, .filename = "[vdso]"});
		sample(PW_MISC_USER, 1, 0x7fff00000000u + 0x1004);
		sample(PW_MISC_USER, 2, 0xf7f00000u + 0x1004);
		fold();
		expect(1, of_32_bit ? "" : "f");
		expect(2, of_32_bit ? "f" : "");
		expect_dso(1, "[vdso]");
		expect_dso(2, "[vdso32]"); /* as the table, and perf then */
		end();
	}
}

/* As the kernel calls it; a perf without perf-read-vdso32 has no id of it. */
static void a_32_bit_vdso_that_no_table_tells_of_is_called_vdso(void **state)
{
	(void)state;
	put_elf(CACHED "vdso");
	begin();
	pw_feature_string(&w, PW_FEAT_ARCH, "x86_64");
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), "[vdso]");
	mapped(1, (struct pw_mmap){.addr = 0x7fff00000000u, .filename = "[vdso]"});
	mapped(2, (struct pw_mmap){.addr = 0xf7f00000u, .filename = "[vdso]"});
	sample(PW_MISC_USER, 1, 0x7fff00000000u + 0x1004);
	sample(PW_MISC_USER, 2, 0xf7f00000u + 0x1004);
	fold();
	expect(1, "f");
	expect(2, "");
	expect_dso(2, "[vdso]");
	end();
}

/* --- files ---------------------------------------------------------------------------- */

static void one_of_several_files_of_a_path_is_not_guessed(void **state)
{
	(void)state;
	static const uint8_t other[20] = {9};
	static const char path[] = "/usr/lib/libc.so.6";
	put_elf(CACHED "elf");
	put_elf("/symfs/usr/lib/libc.so.6");
	for (int turn = 0; turn < 4; turn++) {
		begin();
		pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, turn == 1 ? other : id,
				    sizeof(id), path);
		pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX,
				    turn == 0 || turn == 3 ? other : id, sizeof(id), path);
		for (uint32_t pid = 1; pid <= 2; pid++) {
			mapped(pid, (struct pw_mmap){.addr = 0x400000,
						     .pgoff = 0x1000,
						     .ino = pid,
						     .build_id = turn == 3 ? id : NULL,
						     .build_id_size = sizeof(id),
						     .filename = path});
			sample(PW_MISC_USER, pid, 0x400004);
		}
		fold();
		expect(1, turn < 3 ? "" : "f");
		expect(2, turn < 3 ? "" : "f");
		end();
	}
}

/* A mapping of `path` by process `pid`, and a sample in it. */
static void mapped_file(uint32_t pid, uint64_t time, struct pw_mmap m)
{
	struct pw_id at = {.pid = pid, .tid = pid, .time = time};
	m.pid = m.tid = pid;
	m.addr = 0x400000;
	m.len = 0x10000;
	m.pgoff = 0x1000;
	m.prot = 5;
	m.filename = m.filename ? m.filename : "/srv/app";
	pw_mmap2(&w, &at, &m);
	sample(PW_MISC_USER, pid, 0x400004);
}

static void begin_with_id(void)
{
	begin();
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), "/srv/app");
}

/* Upgrades, containers: device, inode and generation tell files apart. perf finds mappings from
 * before it started in /proc, which has no generations. */
static void a_build_id_of_the_table_is_of_one_file(void **state)
{
	(void)state;
	static const uint8_t other[20] = {9};
	static const struct {
		struct pw_mmap a, b;
		uint64_t a_time;
		const char *release, *name;
	} cases[] = {
		{{.maj = 8, .ino = 5, .ino_generation = 1},
		 {.maj = 8, .ino = 5, .ino_generation = 1},
		 1,
		 "6.1.0",
		 "f"},
		{{.maj = 8, .ino = 5, .ino_generation = 1},
		 {.maj = 8, .ino = 6, .ino_generation = 1},
		 1,
		 "6.1.0",
		 ""},
		{{.maj = 8, .ino = 5, .ino_generation = 1},
		 {.maj = 8, .ino = 5, .ino_generation = 2},
		 1,
		 "6.1.0",
		 ""},
		{{.maj = 8, .ino = 5, .ino_generation = 1},
		 {.maj = 8, .min = 1, .ino = 5, .ino_generation = 1},
		 1,
		 "6.1.0",
		 ""},
		{{.maj = 8, .ino = 5},
		 {.maj = 8, .ino = 5, .ino_generation = 2},
		 0,
		 "6.1.0",
		 "f"},
		{{.ino = 0}, {.maj = 8, .ino = 5, .ino_generation = 2}, 1, "6.1.0", "f"},
		/* of an overlay: once by its own device, once by the one below; or two files */
		{{.min = 50, .ino = 5},
		 {.maj = 8, .ino = 9, .ino_generation = 2},
		 0,
		 "6.12.3",
		 "f"},
		{{.min = 50, .ino = 5},
		 {.maj = 8, .ino = 9, .ino_generation = 2},
		 0,
		 "6.1.0",
		 ""},
		{{.min = 50, .ino = 5},
		 {.maj = 8, .ino = 9, .ino_generation = 2},
		 1,
		 "6.12.3",
		 ""},
		/* a mapping has a build-id, and it is another one; or it is the same */
		{{.build_id = other, .build_id_size = 20},
		 {.maj = 8, .ino = 5, .ino_generation = 2},
		 1,
		 "6.1.0",
		 ""},
		{{.build_id = id, .build_id_size = 20},
		 {.maj = 8, .ino = 5, .ino_generation = 2},
		 1,
		 "6.1.0",
		 "f"},
	};
	put_elf(CACHED "elf");
	put_elf("/symfs/srv/app");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin_with_id();
		pw_feature_string(&w, PW_FEAT_OSRELEASE, cases[i].release);
		mapped_file(1, cases[i].a_time, cases[i].a);
		mapped_file(2, 2, cases[i].b);
		fold();
		if (cases[i].a.build_id != other)
			expect(1, cases[i].name);
		expect(2, cases[i].name);
		end();
	}
}

static void in_mount(uint32_t pid, uint64_t time, uint64_t mount)
{
	const uint64_t dev_ino[14] = {4, 1, 4, 2, 4, 3, 4, 4, 4, 5, 4, mount, 4, 7};
	pw_namespaces(&w, &(struct pw_id){.pid = pid, .tid = pid, .time = time}, pid, pid,
		      dev_ino, 7);
}

/* With perf record --namespaces: process 1 is the recorded command, which has perf's own. The
 * table has an entry for each file with samples. */
static void a_build_id_of_the_table_is_of_perfs_own_mount_namespace(void **state)
{
	(void)state;
	static const struct {
		uint64_t mount;  /* of process 2; 1: of the first */
		uint32_t a, b;   /* inodes that they map, 0: none */
		int twice, ends; /* entries in the table; process 2 ended */
		const char *first, *second;
	} cases[] = {
		{1, 5, 6, 1, 1, "", ""},    {9, 5, 6, 1, 1, "f", ""},
		{9, 5, 6, 1, 0, "f", ""},   {9, 5, 6, 0, 1, "", ""},
		{0, 5, 6, 1, 1, "", ""},    {9, 5, 5, 1, 1, "f", "f"},
		{9, 0, 6, 0, 1, NULL, ""}, /* perf found its path in its own namespace only */
		{9, 0, 6, 0, 0, NULL, "f"}, {1, 0, 6, 0, 1, NULL, "f"},
	};
	put_elf(CACHED "elf");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin_with_id();
		if (cases[i].twice)
			pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id),
					    "/srv/app");
		pw_comm(&w, &(struct pw_id){.pid = 1, .tid = 1}, 1, 1, "perf-exec", 0);
		in_mount(1, 0, 1);
		if (cases[i].mount)
			in_mount(2, 0, cases[i].mount);
		if (cases[i].a)
			mapped_file(1, 1, (struct pw_mmap){.maj = 8, .ino = cases[i].a});
		mapped_file(2, 2, (struct pw_mmap){.maj = 8, .ino = cases[i].b});
		if (cases[i].ends)
			pw_exit(&w, &(struct pw_id){.pid = 2, .tid = 2, .time = 20}, 2, 1, 2, 1,
				20);
		fold();
		if (cases[i].first)
			expect(1, cases[i].first);
		expect(2, cases[i].second);
		end();
	}
}

/* The records up to a time are known, and so is the table. */
static void know_until(struct machine *m, struct recording *rec, uint64_t time, int has_id)
{
	assert_int_equal(machine_advance(m, time, NULL), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(machine_set_build_ids(m, rec, NULL), 0);
		assert_true(m->dsos.n >= 1);
		assert_int_equal(!!m->dsos.v[0].id.len, has_id);
	}
}

/* Process 2 has ended, 3 comes later: whether it is in the namespace of 2 shows in the end. */
static void a_mount_namespace_is_gone_only_in_the_end(void **state)
{
	(void)state;
	for (int comes = 0; comes < 2; comes++) {
		struct recording *rec;
		struct strtab strings = {0};
		struct machine m;
		struct record r;
		begin_with_id();
		pw_comm(&w, &(struct pw_id){.pid = 1, .tid = 1}, 1, 1, "perf-exec", 0);
		in_mount(1, 0, 1);
		in_mount(2, 0, 9);
		mapped_file(2, 2, (struct pw_mmap){.maj = 8, .ino = 6});
		pw_exit(&w, &(struct pw_id){.pid = 2, .tid = 2, .time = 20}, 2, 1, 2, 1, 20);
		mapped_file(1, 22, (struct pw_mmap){.maj = 8, .ino = 7, .filename = "/other"});
		if (comes) {
			in_mount(3, 30, 9);
			mapped_file(3, 31, (struct pw_mmap){.maj = 8, .ino = 6});
		}
		assert_int_equal(pw_finish(&w, &image), 0);
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", NULL), 0);
		assert_int_equal(machine_init(&m, &strings, NULL), 0);
		while (recording_next(rec, &r, NULL) == 1) {
			struct record_id of;
			recording_id(rec, &r, &of);
			assert_int_equal(machine_apply(&m, rec, &r, of.time, NULL), 0);
		}
		know_until(&m, rec, 10, 1);
		know_until(&m, rec, 25, 1);
		know_until(&m, rec, TIME_END, comes);
		machine_release(&m);
		strtab_release(&strings);
		recording_close(rec);
		buf_release(&image);
	}
}

/* A second process that may be the recorded command comes after a question was asked. */
static void perfs_own_namespace_may_become_unsure(void **state)
{
	(void)state;
	struct recording *rec;
	struct strtab strings = {0};
	struct machine m;
	struct record r;
	begin_with_id();
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), "/srv/app");
	pw_comm(&w, &(struct pw_id){.pid = 1, .tid = 1}, 1, 1, "perf-exec", 0);
	in_mount(1, 0, 1);
	in_mount(2, 0, 9);
	mapped_file(1, 1, (struct pw_mmap){.maj = 8, .ino = 5});
	mapped_file(2, 1, (struct pw_mmap){.maj = 8, .ino = 6});
	pw_comm(&w, &(struct pw_id){.pid = 3, .tid = 3, .time = 20}, 3, 3, "x", 0);
	pw_comm(&w, &(struct pw_id){.pid = 4, .tid = 4}, 4, 4, "perf-exec", 0);
	in_mount(4, 0, 10);
	assert_int_equal(pw_finish(&w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", NULL), 0);
	assert_int_equal(machine_init(&m, &strings, NULL), 0);
	while (recording_next(rec, &r, NULL) == 1) {
		struct record_id of;
		recording_id(rec, &r, &of);
		if (of.time == 20)
			know_until(&m, rec, 10, 1);
		assert_int_equal(machine_apply(&m, rec, &r, of.time, NULL), 0);
	}
	know_until(&m, rec, TIME_END, 0);
	machine_release(&m);
	strtab_release(&strings);
	recording_close(rec);
	buf_release(&image);
}

/* The generation in perf inject's records is none. */
static void an_injected_files_generation_is_not_compared(void **state)
{
	(void)state;
	static const char path[] = "/tmp/jitted-1-2.so";
	put_elf(CACHED "elf");
	begin();
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), path);
	for (uint32_t pid = 1; pid <= 2; pid++)
		mapped_file(
			pid, pid,
			(struct pw_mmap){
				.maj = 8, .ino = 5, .ino_generation = pid, .filename = path});
	fold();
	expect(1, "f");
	expect(2, "f");
	end();
}

/* Names of processes 1 and 2, of one path, with a context of these lines. */
static void expect_listed(const char *lines, const char *first, const char *second)
{
	char text[512];
	struct recording *rec;
	struct err e = {0};
	struct profile_options opt = {
		.modules = {.find = {.buildid_dir = in_root("/debug"), .no_local = 1}}};
	struct fold_options how = {.workers = 1, .aggregate.by = BY_PID};
	begin_with_id();
	mapped_file(1, 1, (struct pw_mmap){.maj = 8, .ino = 5, .ino_generation = 1});
	mapped_file(2, 2, (struct pw_mmap){.maj = 8, .ino = 5, .ino_generation = 2});
	assert_int_equal(pw_finish(&w, &image), 0);
	put("/recorded", image.v, image.n);
	int n = snprintf(text, sizeof(text), "perfkit-context 1\nof %zu\n%s", image.n, lines);
	put("/recorded.context", text, (size_t)n);
	assert_int_equal(recording_open(&rec, in_root("/recorded"), &e), 0);
	assert_int_equal(profile_of(&profile, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(profile, &how, &e), 0);
	expect(1, first);
	expect(2, second);
	end();
}

static void the_context_says_which_file_had_which_build_id(void **state)
{
	(void)state;
#define ID "0102030405060708090a0b0c0d0e0f1011121314"
	put_elf(CACHED "elf");
	expect_listed("", "", "");
	expect_listed("file 8:0 5 2 " ID " /srv/app\n", "", "f");
	expect_listed("file 8:0 5 1 " ID " /srv/app\n", "f", "");
	expect_listed("file 8:0 5 1 " ID " /srv/app\nfile 8:0 5 2 " ID " /srv/app\n", "f", "f");
	expect_listed("file 8:0 5 0 " ID " /srv/app\n", "", "");
	expect_listed("file 8:0 5 2 " ID " /srv/other\n", "", "");
	expect_listed("file 8:0 5 2 " ID "aa /srv/app\n", "", "");
	/* it contradicts itself */
	expect_listed("file 8:0 5 2 " ID " /srv/app\nfile 8:0 5 2 09 /srv/app\n", "", "");
}

/* In a chroot: the path's own file was listed, the mapped one was not found any more. */
static void an_id_listed_for_another_file_is_not_given(void **state)
{
	(void)state;
	for (int listed = 0; listed < 2; listed++) {
		char text[256];
		struct recording *rec;
		struct profile_options opt = {
			.modules = {.find = {.buildid_dir = in_root("/debug"), .no_local = 1}}};
		struct fold_options how = {.workers = 1, .aggregate.by = BY_PID};
		put_elf(CACHED "elf");
		begin_with_id();
		mapped_file(1, 1, (struct pw_mmap){.maj = 8, .ino = 5, .ino_generation = 1});
		assert_int_equal(pw_finish(&w, &image), 0);
		put("/recorded", image.v, image.n);
		int n = snprintf(text, sizeof(text),
				 "perfkit-context 1\nof %zu\nfile 8:0 7 3 " ID " /srv/app\n",
				 image.n + !listed); /* not of this recording */
		put("/recorded.context", text, (size_t)n);
		assert_int_equal(recording_open(&rec, in_root("/recorded"), NULL), 0);
		assert_int_equal(profile_of(&profile, rec, &opt, NULL), 0);
		assert_int_equal(profile_fold(profile, &how, NULL), 0);
		expect(1, listed ? "" : "f");
		end();
	}
}

/* pack says by inode whose file it had found, and finds it again there. */
static void a_bundle_has_files_of_one_path_by_their_inodes(void **state)
{
	(void)state;
	static const uint8_t other[20] = {9};
	static const char path[] = "/usr/lib/libc.so.6";
	struct packlist list = {0};
	put_elf("/symfs/inode/8-1-1/usr/lib/libc.so.6");
	put_elf("/symfs/usr/lib/libc.so.6");
	begin();
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), path);
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, other, sizeof(other), path);
	for (uint32_t pid = 1; pid <= 2; pid++) {
		mapped(pid, (struct pw_mmap){.addr = 0x400000,
					     .pgoff = 0x1000,
					     .maj = 8,
					     .min = 1,
					     .ino = pid,
					     .filename = path});
		sample(PW_MISC_USER, pid, 0x400004);
	}
	fold();
	expect(1, "f");
	expect(2, "");
	assert_int_equal(packlist_make(&list, profile, NULL), 0);
	assert_int_equal(list.files.n, 1);
	assert_string_equal(list.files.v[0].name, "symfs/inode/8-1-1/usr/lib/libc.so.6");
	packlist_release(&list);
	end();
}

static void expect_comm(int32_t pid, const char *comm)
{
	for (size_t i = 0; i < profile->folded.n; i++)
		if (profile->folded.v[i].pid == pid)
			assert_string_equal(
				strtab_get(&profile->stacks.strings, profile->folded.v[i].comm),
				comm);
}

/* perf record -a in a container: processes that it does not see have pid 0, all of them. */
static void pid_0_has_no_name_or_mapping_of_processes_outside(void **state)
{
	(void)state;
	put_elf("/symfs/srv/app");
	for (int outside = 0; outside < 2; outside++) {
		begin();
		for (uint32_t pid = 0; pid <= 1; pid++) {
			struct pw_id at = {.pid = pid, .tid = pid, .time = 2};
			if (pid || outside)
				pw_comm(&w, &at, pid, pid, "bash", 1);
			if (pid || outside)
				mapped_file(pid, 3, (struct pw_mmap){.maj = 8, .ino = 5});
		}
		sample(PW_MISC_KERNEL, 0, 0xffffffff81000010u);
		fold();
		expect_comm(0, outside ? "[pid 0]" : "swapper");
		expect_comm(1, "bash");
		for (size_t i = 0; i < profile->folded.n; i++)
			if (!profile->folded.v[i].pid)
				assert_string_not_equal(
					strtab_get(&profile->stacks.strings, leaf_of(0)->dso),
					"/srv/app");
		assert_int_equal(profile->machine.hidden, outside);
		end();
	}
}

static void a_program_in_dev_shm_is_a_file(void **state)
{
	(void)state;
	put_elf(CACHED "elf");
	begin();
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), "/dev/shm/app");
	pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id), "/dev/shm/../app");
	for (uint32_t pid = 1; pid <= 2; pid++) {
		mapped(pid, (struct pw_mmap){.addr = 0x400000,
					     .pgoff = 0x1000,
					     .filename = pid == 1 ? "/dev/shm/app"
								  : "/dev/shm/../app"});
		sample(PW_MISC_USER, pid, 0x400004);
	}
	fold();
	expect(1, "f");
	expect(2, "");
	end();
}

static void anonymous_code_is_jit_code_though_no_map_names_it(void **state)
{
	(void)state;
	begin();
	for (uint32_t pid = 1; pid <= 2; pid++) {
		mapped(pid, (struct pw_mmap){.addr = 0x7f0000000000,
					     .filename = pid == 1 ? "//anon"
								  : "/memfd:x (deleted)"});
		sample(PW_MISC_USER, pid, 0x7f0000000110);
	}
	fold();
	expect_dso(1, "/tmp/perf-1.map");
	assert_int_equal(leaf_of(1)->kind, FRAME_JIT);
	expect_dso(2, "/memfd:x (deleted)");
	assert_int_equal(leaf_of(2)->kind, FRAME_USER);
	end();
}

/* As .NET 7 and newer map their code (W^X). */
static void code_in_a_memfd_is_named_by_the_perf_map(void **state)
{
	(void)state;
	static const char path[] = "/memfd:doublemapper (deleted)";
	static const char map[] = "7f0000000100 40 int32 [web] Shop.Cart::Total()\n";
	put_elf(CACHED "elf");
	put("/symfs/tmp/perf-1.map", map, sizeof(map) - 1);
	begin();
	for (uint32_t pid = 1; pid <= 3; pid++) {
		mapped(pid, (struct pw_mmap){.addr = 0x7f0000000000,
					     .pgoff = pid == 3 ? 0x1000 : 0x40000,
					     .ino = 1044,
					     .build_id = pid == 3 ? id : NULL,
					     .build_id_size = sizeof(id),
					     .filename = path});
		sample(PW_MISC_USER, pid, 0x7f0000000110);
	}
	fold();
	expect(1, "int32 [web] Shop.Cart::Total()");
	assert_int_equal(leaf_of(1)->kind, FRAME_JIT);
	expect(2, "");
	expect_dso(2, path);
	expect(3, "f"); /* a program that was never on a disk */
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(modules_have_the_names_of_their_own_boot),
		ON_A_TREE(modules_have_no_names_of_another_boot),
		ON_A_TREE(the_recordings_own_kallsyms_comes_first),
		ON_A_TREE(a_link_is_no_kallsyms_of_the_recording),
		ON_A_TREE(a_kernel_is_placed_by_the_symbol_its_mapping_names),
		ON_A_TREE(a_kernel_without_a_located_symbol_must_fit),
		ON_A_TREE(the_entry_trampoline_is_the_kernels_code),
		ON_A_TREE(the_vdso_is_mapped_from_its_start_whatever_the_kernel_says),
		ON_A_TREE(a_32_bit_vdso_is_another_file),
		ON_A_TREE(a_32_bit_vdso_that_no_table_tells_of_is_called_vdso),
		ON_A_TREE(one_of_several_files_of_a_path_is_not_guessed),
		ON_A_TREE(a_build_id_of_the_table_is_of_one_file),
		ON_A_TREE(a_build_id_of_the_table_is_of_perfs_own_mount_namespace),
		cmocka_unit_test(a_mount_namespace_is_gone_only_in_the_end),
		cmocka_unit_test(perfs_own_namespace_may_become_unsure),
		ON_A_TREE(an_injected_files_generation_is_not_compared),
		ON_A_TREE(the_context_says_which_file_had_which_build_id),
		ON_A_TREE(an_id_listed_for_another_file_is_not_given),
		ON_A_TREE(a_bundle_has_files_of_one_path_by_their_inodes),
		ON_A_TREE(pid_0_has_no_name_or_mapping_of_processes_outside),
		ON_A_TREE(a_program_in_dev_shm_is_a_file),
		ON_A_TREE(anonymous_code_is_jit_code_though_no_map_names_it),
		ON_A_TREE(code_in_a_memfd_is_named_by_the_perf_map),
	};
	return cmocka_run_group_tests_name("libsym mappings", tests, NULL, NULL);
}
