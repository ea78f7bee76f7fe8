/*
 * Recordings of megabytes that are made to be slow, as the files of test_large.c are: what
 * grows with the square of the records, or of the names they lead to.
 */
#include "tests/lib/large.h"

#include "base/mem.h"
#include "libsym/name/demangle.h"
#include "libsym/process/jit_files.h"
#include "libsym/process/machine.h"
#include "libsym/process/modules.h"
#include "libsym/stacks.h"

/* --- recordings --------------------------------------------------------------------------- */

struct world {
	struct recording rec;
	struct strtab strings;
	struct machine m;
	double start;
};

static void world_begin(struct world *w)
{
	*w = (struct world){.start = seconds()};
	w->rec.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	assert_int_equal(machine_init(&w->m, &w->strings, NULL), 0);
}

static void world_end(struct world *w)
{
	machine_release(&w->m);
	strtab_release(&w->strings);
	in_time(w->start);
}

/* Give the machine a record with this body. */
static void take(struct world *w, uint32_t type, uint64_t time, struct out *body)
{
	struct out o = {0};
	struct record r = {.type = type};
	struct err e = {0};
	while (body->n % 8)
		put(body, 0, 1);
	put(&o, type, 4);
	put(&o, 0, 2);
	put(&o, 8 + body->n, 2);
	put_all(&o, body->v, body->n);
	r.p = o.v;
	r.size = (uint16_t)o.n;
	if (machine_apply(&w->m, &w->rec, &r, time, &e))
		fail_msg("%s", e.msg);
	body->n = 0;
	free(o.v);
}

static void take_mmap_of(struct world *w, struct out *o, uint64_t time, uint64_t addr,
			 uint64_t len, uint64_t ino, const char *file)
{
	put(o, 7, 4);
	put(o, 7, 4);
	put(o, addr, 8);
	put(o, len, 8);
	put(o, 0, 16); /* offset, device */
	put(o, ino, 8);
	put(o, 0, 8); /* generation */
	put(o, 5, 4);
	put(o, 2, 4);
	put_all(o, file, strlen(file) + 1);
	take(w, PERF_RECORD_MMAP2, time, o);
}

static void take_mmap(struct world *w, struct out *o, uint64_t time, uint64_t addr,
		      uint64_t len, uint64_t ino)
{
	take_mmap_of(w, o, time, addr, len, ino, "/bin/x");
}

static void take_comm(struct world *w, struct out *o, uint64_t time, uint64_t n)
{
	put(o, 7, 4);
	put(o, 7, 4);
	put(o, 'A' + n % 16, 1);
	put(o, 'A' + n / 16 % 16, 1);
	put(o, 0, 1);
	take(w, PERF_RECORD_COMM, time, o);
}

static void files_of_one_name_are_told_apart_in_time(void **state)
{
	enum { FILES = 100000 };
	struct world w;
	struct out o = {0};
	(void)state;
	world_begin(&w);
	for (uint64_t i = 0; i < FILES; i++)
		take_mmap(&w, &o, i, i << 12, 0x1000, i + 1);
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	assert_int_equal(w.m.dsos.n, FILES);
	free(o.v);
	world_end(&w);
}

/* A number that is free takes away what the others mixed into a hash, where that can be told
 * from outside. */
static void files_and_frames_cannot_be_numbered_so_that_they_meet(void **state)
{
	enum { FILES = 100000 };
	struct world w;
	struct out o = {0};
	struct stacks s = {0};
	char name[32];
	uint32_t id;
	(void)state;
	world_begin(&w);
	for (uint32_t i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "/bin/%u", i);
		assert_int_equal(strtab_intern(&w.strings, name, &id), 0);
		take_mmap_of(&w, &o, i, (uint64_t)i << 12, 0x1000,
			     hash_u64((uint64_t)id << 8 | DSO_FILE), name);
		struct frame f = {.dso = i + 1, .addr = hash_u64(hash_u64(i + 1))};
		assert_int_equal(stacks_frame(&s, &f, &id), 0);
		assert_int_equal(id, i + 1);
	}
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	assert_int_equal(w.m.dsos.n, FILES);
	stacks_release(&s);
	free(o.v);
	world_end(&w);
}

static void mapping_over_all_others_hides_none(void **state)
{
	enum { MAPS = 150000 };
	struct world w;
	struct out o = {0};
	struct thread_view v;
	(void)state;
	world_begin(&w);
	take_mmap(&w, &o, 1, 0x1000, UINT64_C(1) << 46, 1);
	for (uint64_t i = 1; i <= MAPS; i++)
		take_mmap(&w, &o, 1 + i, i << 13, 0x1000, 1);
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	machine_thread_at(&w.m, 7, 7, TIME_END, &v);
	for (uint64_t i = 1; i <= MAPS; i++) {
		const struct map *own =
			machine_map_at(&w.m, v.space, (i << 13) + 5, TIME_END - 1);
		const struct map *gap =
			machine_map_at(&w.m, v.space, (i << 13) + 0x1005, TIME_END - 1);
		const struct map *before = machine_map_at(&w.m, v.space, (i << 13) + 5, i);
		assert_true(own && own->start == i << 13);
		assert_true(gap && gap->start == 0x1000);
		assert_ptr_equal(before, gap);
	}
	free(o.v);
	world_end(&w);
}

static void mappings_of_one_place_are_told_apart_by_time(void **state)
{
	enum { MAPS = 100000 };
	struct world w;
	struct out o = {0};
	struct thread_view v;
	(void)state;
	world_begin(&w);
	for (uint64_t i = 1; i <= MAPS; i++)
		take_mmap(&w, &o, 10 * i, 0x10000 - 16 * (i % 3), 0x1000, 1);
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	machine_thread_at(&w.m, 7, 7, TIME_END, &v);
	assert_null(machine_map_at(&w.m, v.space, 0x10000, 9));
	for (uint64_t i = 1; i <= MAPS; i++) {
		const struct map *map = machine_map_at(&w.m, v.space, 0x10000, 10 * i + 9);
		assert_true(map && map->since == 10 * i);
	}
	free(o.v);
	world_end(&w);
}

static void mappings_may_come_between_questions(void **state)
{
	enum { MAPS = 100000 };
	struct world w;
	struct out o = {0};
	struct thread_view v;
	(void)state;
	world_begin(&w);
	for (uint64_t i = 1; i <= MAPS; i++) {
		uint64_t addr = i * 7919 % MAPS << 12;
		take_mmap(&w, &o, i, addr, 0x1000, 1);
		assert_int_equal(machine_advance(&w.m, i, NULL), 0);
		machine_thread_at(&w.m, 7, 7, i, &v);
		const struct map *map = machine_map_at(&w.m, v.space, addr + 5, i);
		assert_true(map && map->since == i);
		addr = (i / 2 + 1) * 7919 % MAPS << 12; /* an older one, and before it was */
		map = machine_map_at(&w.m, v.space, addr + 5, i);
		assert_true(map && map->since == i / 2 + 1);
		assert_null(machine_map_at(&w.m, v.space, addr + 5, i / 2));
	}
	free(o.v);
	world_end(&w);
}

static void take_ksymbol(struct world *w, struct out *o, uint64_t time, int gone)
{
	put(o, UINT64_C(0xffffffffc0000000) + (time / 2 % 1000 << 12), 8);
	put(o, 0x100, 4);
	put(o, 1, 2);
	put(o, gone != 0, 2);
	put_all(o, "bpf_prog_0123", 14);
	take(w, PERF_RECORD_KSYMBOL, time, o);
}

static void bpf_programs_may_come_and_go(void **state)
{
	enum { TIMES = 100000 };
	struct world w;
	struct out o = {0};
	(void)state;
	world_begin(&w);
	for (uint64_t i = 0; i < TIMES; i++)
		take_ksymbol(&w, &o, i, i & 1);
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	for (uint64_t i = 0; i < TIMES; i++) {
		uint64_t at = UINT64_C(0xffffffffc0000080) + (i / 2 % 1000 << 12);
		const struct map *map = machine_map_at(&w.m, SPACE_KERNEL, at, i);
		assert_true(i & 1 ? !map : map && map->since == i);
	}
	free(o.v);
	world_end(&w);
}

static void thread_may_change_its_name_and_life_at_any_rate(void **state)
{
	enum { TIMES = 150000 };
	struct world w;
	struct out o = {0};
	struct thread_view v;
	(void)state;
	world_begin(&w);
	for (uint64_t i = 0; i < TIMES; i++)
		take_comm(&w, &o, 10 + 10 * i, i);
	for (uint64_t i = 0; i < TIMES; i++) { /* thread 8 of process 9, and process 9 */
		put(&o, 9, 4);
		put(&o, 7, 4);
		put(&o, i % 2 ? 8 : 9, 4);
		put(&o, 7, 4);
		put(&o, 10 + 10 * i, 8);
		take(&w, PERF_RECORD_FORK, 10 + 10 * i, &o);
	}
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	for (uint64_t i = 0; i < TIMES; i++) {
		char name[] = {(char)('A' + i % 16), (char)('A' + i / 16 % 16), 0};
		machine_thread_at(&w.m, 7, 7, 15 + 10 * i, &v);
		assert_string_equal(strtab_get(&w.strings, v.comm), name);
		assert_true(v.since == 10 + 10 * i);
		assert_true(v.until == (i + 1 < TIMES ? 20 + 10 * i : TIME_END));
		machine_thread_at(&w.m, 9, i % 2 ? 8 : 9, 15 + 10 * i, &v);
		assert_true(v.thread != NO_ID &&
			    w.m.threads.v[v.thread].life.start == 10 + 10 * i);
		machine_thread_at(&w.m, 9, 77, 15 + 10 * i, &v);
		assert_true(v.thread == NO_ID && v.since == 10 + 10 * i);
	}
	free(o.v);
	world_end(&w);
}

static void a_program_is_named_by_its_first_thread_or_not_at_all(void **state)
{
	struct world w;
	struct out o = {0};
	(void)state;
	world_begin(&w);
	take_comm(&w, &o, 10, 0);
	take_comm(&w, &o, 20, 1);
	put(&o, 9, 4); /* thread 8 of process 9, whose first thread no record names */
	put(&o, 7, 4);
	put(&o, 8, 4);
	put(&o, 7, 4);
	put(&o, 30, 8);
	take(&w, PERF_RECORD_FORK, 30, &o);
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	assert_string_equal(strtab_get(&w.strings, machine_program(&w.m, 7)), "BA");
	assert_true(machine_program(&w.m, 9) == NO_ID);
	assert_true(machine_program(&w.m, 8) == NO_ID);
	assert_true(machine_program(&w.m, 0) == NO_ID);
	assert_true(machine_program(&w.m, -1) == NO_ID);
	free(o.v);
	world_end(&w);
}

static void mount_namespaces_are_told_apart_in_time(void **state)
{
	enum { NAMESPACES = UINT16_MAX - 1, RECORDS = 4 * NAMESPACES, MOUNT = 5 };
	struct world w;
	struct out o = {0};
	(void)state;
	world_begin(&w);
	for (uint64_t i = 0; i < RECORDS; i++) {
		put(&o, 7, 4);
		put(&o, 7, 4);
		put(&o, MOUNT + 1, 8);
		for (uint64_t k = 0; k <= MOUNT; k++) {
			put(&o, 4, 8);
			put(&o, 1000 + i % NAMESPACES, 8);
		}
		take(&w, PERF_RECORD_NAMESPACES, i, &o);
		assert_int_equal(machine_advance(&w.m, i, NULL), 0);
		assert_int_equal(w.m.processes.v[w.m.processes.n - 1].mount,
				 i % NAMESPACES + 1);
	}
	free(o.v);
	world_end(&w);
}

static void build_ids_find_their_files_in_time(void **state)
{
	enum { FILES = 60000 };
	struct world w;
	struct out o = {0};
	char(*names)[16] = calloc(FILES, sizeof(*names));
	(void)state;
	assert_non_null(names);
	world_begin(&w);
	for (uint64_t i = 0; i < FILES; i++) {
		snprintf(names[i], sizeof(names[i]), "/lib/%u", (unsigned)i);
		put(&o, 7, 4);
		put(&o, 7, 4);
		put(&o, i << 12, 8);
		put(&o, 0x1000, 8);
		put(&o, 0, 8);
		put_all(&o, names[i], strlen(names[i]) + 1);
		take(&w, PERF_RECORD_MMAP, i, &o);
		struct recorded_build_id b = {.filename = names[i], .pid = -1, .size = 20};
		b.id[0] = (uint8_t)(i % 250 + 1);
		assert_int_equal(vec_push(&w.rec.features.build_ids, b), 0);
	}
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	assert_int_equal(machine_set_build_ids(&w.m, &w.rec, NULL), 0);
	for (uint64_t i = 0; i < FILES; i++)
		assert_int_equal(w.m.dsos.v[i].id.v[0], i % 250 + 1);
	vec_release(&w.rec.features.build_ids);
	free(names);
	free(o.v);
	world_end(&w);
}

static void take_named_mmap(struct world *w, struct out *o, int pid, uint64_t addr,
			    const char *name)
{
	put(o, (uint64_t)pid, 4);
	put(o, (uint64_t)pid, 4);
	put(o, addr, 8);
	put(o, 0x1000, 8);
	put(o, 0, 8);
	put_all(o, name, strlen(name) + 1);
	take(w, PERF_RECORD_MMAP, 1, o);
}

/* Each process with code of its own is asked for; none has mapped the dumps but the first. */
static void jitdumps_are_not_searched_for_each_process(void **state)
{
	enum { PROCESSES = 20000, DUMPS = 20000 };
	struct world w;
	struct out o = {0};
	struct jit_mappings j = {0};
	struct dso_options opt = {.no_local = 1};
	struct modules_options mopt = {.find = opt};
	struct modules *modules;
	struct jit_found found;
	uint32_t process = 0;
	char name[64];
	(void)state;
	world_begin(&w);
	for (int i = 0; i < DUMPS; i++) {
		snprintf(name, sizeof(name), "/tmp/jit-%d.dump", 1000000 + i);
		take_named_mmap(&w, &o, 1, (uint64_t)i << 12, name);
	}
	for (int i = 0; i < PROCESSES; i++)
		take_named_mmap(&w, &o, 10 + i, 0x1000, "//anon");
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	assert_int_equal(modules_new(&modules, &w.m, &w.rec, &mopt, NULL), 0);
	assert_int_equal(jit_mappings_find(&j, &w.m), 0);
	assert_int_equal(j.of.n, DUMPS);
	for (int i = 0; i < PROCESSES; i++) {
		size_t skip = 0;
		assert_true(u64map_get(&w.m.by_pid, (uint64_t)(10 + i), &process));
		assert_int_equal(jitfiles_jitdump(&opt, NULL, &w.m, &j, process, &skip, &found),
				 0);
	}
	for (uint32_t i = 0; i < w.m.dsos.n; i++)
		assert_int_equal(modules_dso_named(modules, w.m.dsos.v[i].name), i);
	size_t skip = 0;
	assert_true(u64map_get(&w.m.by_pid, 1, &process));
	assert_int_equal(jitfiles_jitdump(&opt, "/maps", &w.m, &j, process, &skip, &found), 1);
	assert_string_equal(found.recorded, "/tmp/jit-1000000.dump");
	assert_string_equal(found.path, "/maps/jit-1000000.dump");
	mem_free(found.path);
	modules_free(modules);
	jit_mappings_release(&j);
	free(o.v);
	world_end(&w);
}

/* --- names -------------------------------------------------------------------------------- */

/* f<p<p<...>>> of `levels` pairs, each of which names the two before it:
 * _Z1fI1pIS_I...1aS0_E... `leaf` is the innermost. */
static void exploding_name(char *out, size_t size, int levels, unsigned leaf)
{
	size_t n = (size_t)snprintf(out, size, "_Z1fI1pI");
	for (int i = 1; i < levels; i++)
		n += (size_t)snprintf(out + n, size - n, "S_I");
	n += (size_t)snprintf(out + n, size - n, "6n%05uS0_E", leaf);
	for (int i = 1; i < levels; i++)
		n += (size_t)snprintf(out + n, size - n, "S%c_E",
				      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
	snprintf(out + n, size - n, "Ev");
}

static void exploding_names_stay_small_together(void **state)
{
	enum { NAMES = 20000, LEVELS = 16, CODE_AT = 0x100000 };
	struct world w;
	struct out o = {0};
	struct thread_view v;
	struct modules *modules;
	struct module_lookup l;
	char dir[] = "/tmp/perfkit.XXXXXX", path[64], name[256];
	(void)state;
	long before = peak_mb();
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/perf-7.map", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (unsigned i = 0; i < NAMES; i++) {
		exploding_name(name, sizeof(name), LEVELS, i);
		fprintf(f, "%x 10 %s\n", CODE_AT + 16 * i, name);
	}
	fclose(f);
	world_begin(&w);
	put(&o, 7, 4);
	put(&o, 7, 4);
	put(&o, CODE_AT, 8);
	put(&o, 16 * NAMES, 8);
	put(&o, 0, 8);
	put_all(&o, "//anon", 7);
	take(&w, PERF_RECORD_MMAP, 1, &o);
	assert_int_equal(machine_advance(&w.m, TIME_END, NULL), 0);
	machine_thread_at(&w.m, 7, 7, 1, &v);
	struct modules_options opt = {.find = {.no_local = 1}, .map_dir = dir};
	assert_int_equal(modules_new(&modules, &w.m, &w.rec, &opt, NULL), 0);
	for (unsigned i = 0; i < NAMES; i++) {
		uint64_t ip = CODE_AT + 16 * i;
		const struct map *map = machine_map_at(&w.m, v.space, ip, 1);
		assert_non_null(map);
		assert_int_equal(modules_lookup(modules, map, ip, 1, LOOKUP_EXACT, &l), 0);
		assert_int_equal(l.n, 1);
		const char *shown = strtab_get(&w.strings, l.frames[0].name);
		exploding_name(name, sizeof(name), LEVELS, i);
		if (!i)
			assert_true(!strncmp(shown, "f<p<", 4) && strlen(shown) > 4000);
		else if (i + 1 == NAMES)
			assert_string_equal(shown, name);
	}
	assert_true(peak_mb() - before < 300);
	modules_free(modules);
	free(o.v);
	remove(path);
	remove(dir);
	world_end(&w);
}

/* (((…))) of Rust's tuples, each of which holds the next one twice. */
static void exploding_rust_names_are_given_up_soon(void **state)
{
	enum { LEVELS = 24, TIMES = 200 };
	char name[256] = "_RINvC1a1bTTTTTTTTTTTTTTTTTTTTTTTTu", *end = name + strlen(name);
	struct buf b = {0};
	(void)state;
	for (int i = LEVELS - 1; i >= 0; i--) {
		int at = 8 + i; /* of the next level, less one, in base 62 */
		end += sprintf(
			end, "B%c_E",
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[at]);
	}
	strcpy(end, "E");
	double start = seconds();
	for (int i = 0; i < TIMES; i++)
		assert_int_equal(demangle(name, 0, &b), 0);
	in_time(start);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exploding_names_stay_small_together),
		cmocka_unit_test(exploding_rust_names_are_given_up_soon),
		cmocka_unit_test(files_of_one_name_are_told_apart_in_time),
		cmocka_unit_test(files_and_frames_cannot_be_numbered_so_that_they_meet),
		cmocka_unit_test(mapping_over_all_others_hides_none),
		cmocka_unit_test(mappings_of_one_place_are_told_apart_by_time),
		cmocka_unit_test(mappings_may_come_between_questions),
		cmocka_unit_test(bpf_programs_may_come_and_go),
		cmocka_unit_test(thread_may_change_its_name_and_life_at_any_rate),
		cmocka_unit_test(a_program_is_named_by_its_first_thread_or_not_at_all),
		cmocka_unit_test(mount_namespaces_are_told_apart_in_time),
		cmocka_unit_test(build_ids_find_their_files_in_time),
		cmocka_unit_test(jitdumps_are_not_searched_for_each_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
