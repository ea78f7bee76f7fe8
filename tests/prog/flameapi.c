/*
 * flameapi MODE PALETTE COUNTNAME OUT - draw a flame graph from stacks fed through the API of
 * render/flame/flame.h, as recordings are, with what folded text cannot say: files, source
 * lines, kinds, waiting parts. MODE is plain, diff or wall. Lines on stdin, fields by tabs:
 *
 *	V0	V1	name|dso|source:line|kind	name|...
 */
#include "render/flame/flame_svg.h"

#include <stdlib.h>
#include <string.h>

static uint32_t intern(struct flame *f, const char *s)
{
	uint32_t id = 0;
	if (s && *s && strtab_intern(&f->strings, s, &id))
		exit(1);
	return id;
}

static uint32_t frame_of(struct flame *f, char *text)
{
	char *name = strsep(&text, "|"), *dso = strsep(&text, "|"), *src = strsep(&text, "|");
	char *colon = src ? strrchr(src, ':') : NULL;
	struct flame_frame fr = {.name = intern(f, name), .dso = intern(f, dso)};
	uint32_t id;
	if (colon) {
		*colon = '\0';
		fr.line = (uint32_t)atoi(colon + 1);
	}
	fr.src = intern(f, src);
	fr.kind = text ? (uint32_t)atoi(text) : FLAME_USER;
	if (flame_frame(f, &fr, &id))
		exit(1);
	return id;
}

static void add_line(struct flame *f, char *line)
{
	uint32_t frames[64];
	size_t n = 0;
	line[strcspn(line, "\n")] = '\0';
	uint64_t v0 = strtoull(strsep(&line, "\t"), NULL, 10);
	uint64_t v1 = line ? strtoull(strsep(&line, "\t"), NULL, 10) : 0;
	while (line && n < 64)
		frames[n++] = frame_of(f, strsep(&line, "\t"));
	if (flame_add(f, frames, n, v0, v1, NULL))
		exit(1);
}

int main(int argc, char **argv)
{
	struct flame f;
	struct flame_svg_options o;
	struct err e = {0};
	char line[8192];
	flame_svg_defaults(&o);
	if (argc != 5 || flame_init(&f) || palette_find(argv[2], &o.palette.id, &e))
		return 2;
	while (fgets(line, sizeof(line), stdin))
		add_line(&f, line);
	o.mode = !strcmp(argv[1], "wall")   ? FLAME_WALL
		 : !strcmp(argv[1], "diff") ? FLAME_DIFF
					    : FLAME_PLAIN;
	o.countname = argv[3];
	const char *const hidden[] = {"idle: 12 threads, 93.1 s", "1.2% lost"};
	o.subtitle = "web1 \xc2\xb7 30.0 s";
	o.hidden = hidden;
	o.n_hidden = 2;
	FILE *out = fopen(argv[4], "w");
	if (!out || flame_finish(&f, &e) || flame_svg_write(&f, &o, out, NULL, &e) ||
	    fclose(out))
		return 1;
	flame_release(&f);
	return 0;
}
