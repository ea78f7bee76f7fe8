#include "render/flame/palette.h"

#include "base/regular.h"
#include "base/text/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A family of shades: ranges of hue (degrees), saturation and lightness (percent). Light enough
 * for black labels. */
struct shades {
	short h0, h1, s0, s1, l0, l1;
};

enum shade_id {
	SH_HOT,
	SH_MEM,
	SH_IO,
	SH_RED,
	SH_GREEN,
	SH_BLUE,
	SH_AQUA,
	SH_YELLOW,
	SH_PURPLE,
	SH_ORANGE,
	SH_GREY,
	SH_TEAL,
};

static const struct shades shades[] = {
	[SH_HOT] = {6, 50, 84, 96, 56, 67},       [SH_MEM] = {112, 168, 48, 62, 52, 66},
	[SH_IO] = {197, 227, 52, 74, 68, 80},     [SH_RED] = {0, 14, 72, 88, 62, 72},
	[SH_GREEN] = {110, 140, 48, 62, 66, 76},  [SH_BLUE] = {208, 224, 62, 80, 64, 76},
	[SH_AQUA] = {176, 192, 48, 62, 56, 68},   [SH_YELLOW] = {50, 60, 78, 90, 62, 72},
	[SH_PURPLE] = {278, 304, 46, 62, 68, 78}, [SH_ORANGE] = {24, 36, 84, 95, 58, 68},
	[SH_GREY] = {220, 220, 4, 6, 74, 82},     [SH_TEAL] = {156, 170, 44, 58, 54, 66},
};

static const char *const names[PALETTES] = {
	"hot",  "mem",  "io",     "wakeup", "chain",  "java", "js",  "perl",  "red", "green",
	"blue", "aqua", "yellow", "purple", "orange", "kind", "dso", "cause", "ipc", "label",
};

int palette_find(const char *name, enum palette_id *id, struct err *e)
{
	for (int i = 0; i < PALETTES; i++)
		if (!strcmp(names[i], name)) {
			*id = (enum palette_id)i;
			return 0;
		}
	struct buf all = {0};
	struct nearest x = nearest_to(name, strlen(name));
	for (int i = 0; i < PALETTES; i++) {
		buf_fmt(&all, "%s%s", i ? " " : "", names[i]);
		nearest_offer(&x, names[i]);
	}
	if (x.best)
		buf_fmt(&all, "; did you mean '%s'?", x.best);
	int rc = err_set(e, ERR_NOTFOUND, "no palette is called \"%s\"; there are: %s", name,
			 buf_cstr(&all));
	buf_release(&all);
	return rc;
}

const char *palette_name(enum palette_id id)
{
	return id < PALETTES ? names[id] : "";
}

/* --- shades -------------------------------------------------------------------------- */

static double hue_part(double h)
{
	h = fmod(h + 360, 360) / 60;
	return h < 1 ? h : h < 3 ? 1 : h < 4 ? 4 - h : 0;
}

static uint32_t hsl(double h, double s, double l)
{
	s /= 100;
	l /= 100;
	double c = s * (l < 0.5 ? l : 1 - l), low = l - c;
	uint32_t r = (uint32_t)((low + 2 * c * hue_part(h + 120)) * 255 + 0.5);
	uint32_t g = (uint32_t)((low + 2 * c * hue_part(h)) * 255 + 0.5);
	uint32_t b = (uint32_t)((low + 2 * c * hue_part(h - 120)) * 255 + 0.5);
	return r << 16 | g << 8 | b;
}

static double between(int from, int to, uint64_t step, uint64_t steps)
{
	return from + (double)(to - from) * (double)(step % steps) / (double)(steps - 1);
}

/* One of 16 * 4 * 4 shades; few, so that a picture's colour table stays small. */
static uint32_t shade(const struct shades *s, uint64_t h)
{
	return hsl(between(s->h0, s->h1, h, 16), between(s->s0, s->s1, h >> 8, 4),
		   between(s->l0, s->l1, h >> 16, 4));
}

/* Names with the same beginning get nearby values. */
static uint64_t near_hash(const char *s, size_t n)
{
	double x = 0, weight = 0.5;
	for (size_t i = 0; i < n && i < 12; i++, weight *= 0.7)
		x += weight * ((unsigned char)s[i] % 16) / 15.0;
	uint64_t step = (uint64_t)(x * 9.6);
	return (step > 15 ? 15 : step) | hash_bytes(s, n, 0) << 32 >> 16;
}

static uint64_t variation(const struct palette *p, uint32_t frame, const char *s, size_t n)
{
	switch (p->variation) {
	case PALETTE_HASH:
		return near_hash(s, n);
	case PALETTE_RANDOM:
		return hash_u64(hash_u64(p->seed + 1) + frame);
	default:
		return hash_bytes(s, n, 0);
	}
}

/* --- which family -------------------------------------------------------------------- */

static int has(const char *s, size_t n, const char *what)
{
	return memmem(s, n, what, strlen(what)) != NULL;
}

static enum shade_id by_kind(uint32_t kind)
{
	static const enum shade_id of[FLAME_KINDS] = {
		[FLAME_USER] = SH_ORANGE,    [FLAME_KERNEL] = SH_BLUE, [FLAME_JIT] = SH_TEAL,
		[FLAME_INLINED] = SH_YELLOW, [FLAME_WAKER] = SH_AQUA,  [FLAME_MARK] = SH_GREY,
		[FLAME_WAIT] = SH_GREY,      [FLAME_GONE] = SH_GREY,   [FLAME_GAP] = SH_GREY,
	};
	return kind < FLAME_KINDS ? of[kind] : SH_GREY;
}

static enum shade_id by_language(enum palette_id id, uint32_t kind, const char *s, size_t n)
{
	if (kind == FLAME_KERNEL)
		return SH_BLUE;
	if (kind == FLAME_INLINED)
		return SH_AQUA;
	if (id == PALETTE_PERL)
		return has(s, n, "Perl") || has(s, n, ".pl") ? SH_GREEN
		       : has(s, n, "::")                     ? SH_YELLOW
							     : SH_RED;
	if (id == PALETTE_JS && kind == FLAME_JIT)
		return has(s, n, "/") || has(s, n, "file:") ? SH_GREEN : SH_AQUA;
	if (kind == FLAME_JIT || (id == PALETTE_JAVA && has(s, n, "/") && !has(s, n, "::")))
		return SH_GREEN;
	return has(s, n, "::") ? SH_YELLOW : SH_RED;
}

static enum shade_id family(enum palette_id id, uint32_t kind, const char *s, size_t n)
{
	switch (id) {
	case PALETTE_HOT:
		return SH_HOT;
	case PALETTE_MEM:
		return SH_MEM;
	case PALETTE_IO:
		return SH_IO;
	case PALETTE_WAKEUP:
		return SH_AQUA;
	case PALETTE_CHAIN:
		return kind == FLAME_WAKER ? SH_AQUA : SH_BLUE;
	case PALETTE_JAVA:
	case PALETTE_JS:
	case PALETTE_PERL:
		return by_language(id, kind, s, n);
	case PALETTE_CAUSE:
	case PALETTE_IPC:
	case PALETTE_LABEL:
		return SH_GREY;
	case PALETTE_KIND:
	case PALETTE_DSO:
	case PALETTES:
		return by_kind(kind);
	default:
		return (enum shade_id)(SH_RED + (id - PALETTE_RED));
	}
}

/* The file's hue, the function's lightness; the kernel is orange, without a file it is grey. */
static uint32_t dso_color(const struct flame *f, const struct flame_frame *fr, uint64_t v)
{
	const char *name = strtab_get(&f->strings, fr->dso);
	if (!fr->dso && fr->kind != FLAME_KERNEL)
		return shade(&shades[SH_GREY], v);
	if (!fr->dso || strstr(name, "[kernel") || strstr(name, "[guest.kernel"))
		return shade(&shades[SH_ORANGE], v);
	uint64_t h = hash_bytes(name, strlen(name), 0);
	return hsl((double)(h % 30 * 12), between(48, 74, h >> 8, 4), between(62, 74, v, 4));
}

static uint32_t mark_color(enum palette_id id, uint32_t kind, const char *s, size_t n)
{
	if (kind == FLAME_WAIT && id == PALETTE_LABEL && n && s[0] != '[') {
		uint64_t h = hash_bytes(s, n, 0);
		return hsl((double)(h % 30 * 12), between(48, 74, h >> 8, 4), 66);
	}
	if (kind == FLAME_WAIT)
		return palette_cause(s, n);
	if (id == PALETTE_CAUSE && n == strlen("[runnable]") && !memcmp(s, "[runnable]", n))
		return palette_cause("runnable", strlen("runnable"));
	return n == 2 && !memcmp(s, "--", 2) ? 0xa0a0a0 : palette_cause("", 0);
}

uint32_t palette_color(const struct palette *p, const struct flame *f, uint32_t frame)
{
	const struct flame_frame *fr = &f->frames.v[frame];
	size_t n;
	const char *s = flame_name(f, fr, &n);
	uint32_t id;
	if (p->map && n && strtab_find(&p->map->names, s, &id))
		return p->map->rgb.v[id];
	if (fr->kind == FLAME_MARK || fr->kind == FLAME_WAIT || fr->kind == FLAME_GONE)
		return mark_color(p->id, fr->kind, s, n);
	n = flame_label_len(s, n);
	uint64_t v = variation(p, frame, s, n);
	if (p->id == PALETTE_DSO)
		return dso_color(f, fr, v);
	return shade(&shades[family(p->id, fr->kind, s, n)], v);
}

static uint32_t mix(uint32_t a, uint32_t b, double t)
{
	uint32_t out = 0;
	for (int shift = 16; shift >= 0; shift -= 8) {
		double x = a >> shift & 0xff, y = b >> shift & 0xff;
		out = out << 8 | (uint32_t)(x + (y - x) * t + 0.5);
	}
	return out;
}

/* Few steps, so that a picture has few colours. */
static double step(double t)
{
	return floor(t * 48 + 0.5) / 48;
}

/* flame_draw.js has the same three formulas. */
uint32_t palette_delta(double share)
{
	double t = step(pow(fmin(fabs(share), 1), 0.6));
	return mix(0xdddbd7, share < 0 ? 0x5b9be6 : 0xf0604d, t);
}

uint32_t palette_heat(uint32_t hot, double waiting)
{
	uint32_t cold = mix(0x7298d8, 0xa3c4f0, (hot >> 8 & 3) / 3.0);
	double t = floor(fmin(waiting, 1) * 12 + 0.5) / 12;
	return t < 0.5 ? mix(hot, 0xe3d9cf, t * 2) : mix(0xe3d9cf, cold, t * 2 - 1);
}

/* A step for each quarter of a doubling, from 1/4 to 4. */
uint32_t palette_ipc(double ipc)
{
	double t = ipc > 0 ? fmin(fmax(floor(log2(ipc) * 4 + 0.5), -8), 8) / 8 : 0;
	return !(ipc > 0) ? 0xc8c8c8
	       : t < 0    ? mix(0xf3e6a2, 0xe4553a, -t)
			  : mix(0xf3e6a2, 0x2f6fe6, t);
}

/*
 * What a colour means, in all pictures: any two that differ are at least 15 apart (CIE 1976
 * L*a*b*) for full colour vision, protanopes and deuteranopes, and from the ground, in both
 * themes (tests/unit/render/test_palette.c). Within a family of causes text distinguishes them,
 * and in timelines a pattern.
 */
#define LOCK 0xe4487b
#define THREAD 0xa154f4
#define NET 0x30d7f6
#define DISK 0x668cd5
#define MEMORY 0xaff276
#define SLEEP 0xe8bb98
#define QUEUE 0xf3df3c
#define GREY 0xc8c8c8

struct cause_look {
	const char *name;
	uint32_t rgb, dark; /* 0: the same */
	int pattern;
};

static const struct cause_look cause_looks[] = {
	{"running", 0x0f7a5a, 0x24c054, 0},
	{"blocked", 0x2b3f8f, 0, 0},
	{"preempted", 0xe0662a, 0, 0},
	{"preempt", 0xe0662a, 0, 0},
	{"unknown", GREY, 0, 0},
	{"lock", LOCK, 0, 0},
	{"rwlock", LOCK, 0, 1},
	{"semaphore", LOCK, 0, 2},
	{"futex", LOCK, 0, 3},
	{"cond", THREAD, 0, 0},
	{"join", THREAD, 0, 1},
	{"barrier", THREAD, 0, 2},
	{"child", THREAD, 0, 3},
	{"signal", THREAD, 0, 4},
	{"net", NET, 0, 0},
	{"poll", NET, 0, 1},
	{"pipe", NET, 0, 2},
	{"io", DISK, 0, 0},
	{"memory", MEMORY, 0, 0},
	{"fault", MEMORY, 0, 1},
	{"sleep", SLEEP, 0, 0},
	{"runnable", QUEUE, 0, 0},
	{"runqueue", QUEUE, 0, 1},
	{"throttle", QUEUE, 0, 2},
	{"yield", QUEUE, 0, 3},
	{"idle-exit", QUEUE, 0, 4},
	{"stopped", GREY, 0, 1},
	{"exit", GREY, 0, 2},
	{"safepoint", GREY, 0, 3},
};

size_t palette_meaning(size_t i, struct palette_meaning *out)
{
	if (i < sizeof(cause_looks) / sizeof(*cause_looks)) {
		const struct cause_look *l = &cause_looks[i];
		*out = (struct palette_meaning){l->name, l->rgb, l->dark ? l->dark : l->rgb};
	}
	return sizeof(cause_looks) / sizeof(*cause_looks);
}

static const struct cause_look *look_of(const char *name, size_t n)
{
	static const struct cause_look other = {"", GREY, 0, 0};
	if (n > 2 && name[0] == '[' && name[n - 1] == ']')
		name++, n -= 2;
	for (size_t i = 0; i < sizeof(cause_looks) / sizeof(*cause_looks); i++)
		if (strlen(cause_looks[i].name) == n && !memcmp(cause_looks[i].name, name, n))
			return &cause_looks[i];
	return &other;
}

uint32_t palette_cause(const char *name, size_t n)
{
	return look_of(name, n)->rgb;
}

int palette_cause_pattern(const char *name, size_t n)
{
	return look_of(name, n)->pattern;
}

/* flame_draw.js has the same formula. */
uint32_t palette_below_cause(uint32_t cause, uint32_t own)
{
	return mix(cause, 0xffffff, 0.15 + (own >> 8 & 3) * 0.12);
}

/* --- legend, background -------------------------------------------------------------- */

static size_t kind_legend(uint32_t present, struct palette_key *out, size_t max)
{
	static const char *const text[FLAME_KINDS] = {
		[FLAME_USER] = "user",       [FLAME_KERNEL] = "kernel", [FLAME_JIT] = "JIT",
		[FLAME_INLINED] = "inlined", [FLAME_WAKER] = "waker",
	};
	size_t n = 0;
	for (uint32_t k = 0; k < FLAME_KINDS; k++)
		if ((present >> k & 1) && text[k] && n < max)
			out[n++] = (struct palette_key){shade(&shades[by_kind(k)], 0x10208),
							text[k]};
	return n;
}

static size_t put_key(struct palette_key *out, size_t n, size_t max, enum shade_id s,
		      const char *text)
{
	if (n < max)
		out[n++] = (struct palette_key){shade(&shades[s], 0x10208), text};
	return n;
}

static size_t language_legend(enum palette_id id, uint32_t present, struct palette_key *out,
			      size_t max)
{
	static const char *const own[] = {"Java", "JavaScript", "Perl"};
	size_t n = put_key(out, 0, max, SH_GREEN, own[id - PALETTE_JAVA]);
	n = put_key(out, n, max, SH_YELLOW, id == PALETTE_PERL ? "Perl modules" : "C++");
	n = put_key(out, n, max, SH_RED, "C, other user code");
	if (present >> FLAME_INLINED & 1)
		n = put_key(out, n, max, SH_AQUA, "inlined");
	if (present >> FLAME_KERNEL & 1)
		n = put_key(out, n, max, SH_BLUE, "kernel");
	return n;
}

/* Instructions per cycle, and where they were not counted. */
static size_t ipc_legend(struct palette_key *out, size_t max)
{
	static const struct {
		double ipc;
		const char *text;
	} keys[] = {{0.25, "1/4 instruction per cycle or less"},
		    {0.5, "1/2"},
		    {1, "1"},
		    {2, "2"},
		    {4, "4 or more"},
		    {0, "no counter"}};
	size_t n = 0;
	for (; n < sizeof(keys) / sizeof(*keys) && n < max; n++)
		out[n] = (struct palette_key){palette_ipc(keys[n].ipc), keys[n].text};
	return n;
}

size_t palette_legend(enum palette_id id, uint32_t present, struct palette_key *out, size_t max)
{
	size_t n;
	switch (id) {
	case PALETTE_KIND:
		return kind_legend(present, out, max);
	case PALETTE_JAVA:
	case PALETTE_JS:
	case PALETTE_PERL:
		return language_legend(id, present, out, max);
	case PALETTE_CHAIN:
		n = put_key(out, 0, max, SH_BLUE, "the waiting thread");
		return put_key(out, n, max, SH_AQUA, "its waker (reversed)");
	case PALETTE_CAUSE:
		return put_key(out, 0, max, SH_GREY, "several causes, or an unknown one");
	case PALETTE_IPC:
		return ipc_legend(out, max);
	case PALETTE_LABEL:
		return put_key(out, 0, max, SH_GREY, "several values, or none");
	default:
		return 0;
	}
}

static const char *background_of(enum palette_id id)
{
	switch (id) {
	case PALETTE_MEM:
		return "green";
	case PALETTE_IO:
	case PALETTE_WAKEUP:
	case PALETTE_CHAIN:
	case PALETTE_CAUSE:
		return "blue";
	case PALETTE_HOT:
	case PALETTE_JAVA:
	case PALETTE_JS:
	case PALETTE_PERL:
		return "yellow";
	default:
		return "grey";
	}
}

int palette_background(const char *name, enum palette_id id, uint32_t rgb[2], struct err *e)
{
	static const struct {
		const char *name;
		uint32_t rgb[2];
	} known[] = {
		{"yellow", {0xfbfaf6, 0xf4efdc}},
		{"blue", {0xf8fafc, 0xe6edf8}},
		{"green", {0xf8fbf8, 0xe4f2e6}},
		{"grey", {0xfafafa, 0xeeeeee}},
	};
	name = name ? name : background_of(id);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name)) {
			memcpy(rgb, known[i].rgb, sizeof(known[i].rgb));
			return 0;
		}
	if (name[0] == '#' && strlen(name) == 7 &&
	    strspn(name + 1, "0123456789abcdefABCDEF") == 6) {
		rgb[0] = rgb[1] = (uint32_t)strtoul(name + 1, NULL, 16);
		return 0;
	}
	return err_set(
		e, ERR_NOTFOUND,
		"no background is called \"%s\"; there are: yellow blue green grey #rrggbb",
		name);
}

/* --- palette.map --------------------------------------------------------------------- */

int palette_map_put(struct palette_map *m, const char *name, size_t n, uint32_t rgb)
{
	uint32_t id;
	if (strtab_intern_n(&m->names, name, n, &id))
		return ERR_NOMEM;
	while (m->rgb.n <= id)
		if (vec_push(&m->rgb, rgb))
			return ERR_NOMEM;
	m->rgb.v[id] = rgb;
	return 0;
}

/* `name->rgb(r,g,b)`; the last "->rgb(" counts. Other lines are ignored. */
static int map_line(struct palette_map *m, const char *line, size_t n)
{
	unsigned r, g, b;
	for (size_t at = n; at--;)
		if (n - at > 6 && !memcmp(line + at, "->rgb(", 6)) {
			if (sscanf(line + at, "->rgb(%3u,%3u,%3u)", &r, &g, &b) != 3 ||
			    r > 255 || g > 255 || b > 255)
				return 0;
			return palette_map_put(m, line, at, r << 16 | g << 8 | b);
		}
	return 0;
}

int palette_map_load(struct palette_map *m, const char *path, struct err *e)
{
	struct stat st;
	int fd = regular_open(AT_FDCWD, path, 0, &st);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	if (!in) {
		int failed = errno;
		if (fd >= 0)
			close(fd);
		errno = failed;
		return failed == ENOENT ? 0
		       : failed == EINVAL
			       ? err_set(e, ERR_UNSUPPORTED, "%s: not a regular file", path)
			       : err_sys(e, "%s: cannot open", path);
	}
	struct buf line = {.max = 1 << 20};
	char part[1024];
	int rc = 0;
	while (!rc && fgets(part, sizeof(part), in)) {
		buf_str(&line, part);
		if (strchr(part, '\n') || feof(in)) {
			rc = map_line(m, buf_cstr(&line), line.n);
			buf_clear(&line);
		}
	}
	if (!rc && ferror(in))
		rc = err_sys(e, "%s: cannot read", path);
	else if (rc)
		err_nomem(e);
	buf_release(&line);
	fclose(in);
	return rc;
}

static int by_name(const void *a, const void *b, void *map)
{
	return strcmp(strtab_get(map, *(const uint32_t *)a),
		      strtab_get(map, *(const uint32_t *)b));
}

int palette_map_print(const struct palette_map *m, struct buf *b)
{
	VEC(uint32_t) sorted = {0};
	for (uint32_t i = 1; i < m->rgb.n; i++)
		if (vec_push(&sorted, i)) {
			vec_release(&sorted);
			return ERR_NOMEM;
		}
	if (sorted.n)
		qsort_r(sorted.v, sorted.n, sizeof(*sorted.v), by_name, (void *)&m->names);
	for (size_t i = 0; i < sorted.n; i++) {
		uint32_t id = sorted.v[i], rgb = m->rgb.v[id];
		buf_add(b, strtab_get(&m->names, id), strtab_len(&m->names, id));
		buf_fmt(b, "->rgb(%u,%u,%u)\n", rgb >> 16, rgb >> 8 & 0xff, rgb & 0xff);
	}
	vec_release(&sorted);
	return buf_failed(b);
}

void palette_map_release(struct palette_map *m)
{
	strtab_release(&m->names);
	vec_release(&m->rgb);
}
