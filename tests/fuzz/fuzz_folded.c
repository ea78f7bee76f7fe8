/*
 * fuzz_folded - folded stacks of other tools, read and drawn. Input: the text. The picture must
 * carry no byte that a terminal obeys and no markup that came with a name.
 */
#include "tests/fuzz/fuzz.h"

#include "render/flame/flame_svg.h"
#include "render/flame/folded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int content(const uint8_t *p, size_t n)
{
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, p, n, 0) != (ssize_t)n ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static void draw(struct flame *f, int script)
{
	struct flame_svg_options o;
	char *svg = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&svg, &size);
	flame_svg_defaults(&o);
	o.no_script = !script;
	if (!out || flame_svg_write(f, &o, out, NULL, NULL))
		abort();
	fclose(out);
	for (size_t i = 0; i < size; i++)
		fuzz_must((uint8_t)svg[i] >= ' ' || svg[i] == '\n' || svg[i] == '\t',
			  "no control characters in a picture");
	if (!script)
		fuzz_must(!strcasestr(svg, "<script"), "no script in a still picture");
	free(svg);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct flame f;
	struct folded_options o = {0};
	struct folded_stats st = {0};
	struct err e = {0};
	folded_sniff((const char *)p, n);
	int rc = flame_init(&f);
	if (!rc)
		rc = folded_read_fd(&f, content(p, n), "fuzz", &o, &st, &e);
	if (rc)
		fuzz_failed(rc, &e);
	if (!rc && !flame_finish(&f, &e)) {
		draw(&f, 0);
		if (n % 32 == 0) /* the data for the script costs more */
			draw(&f, 1);
	}
	flame_release(&f);
	return 0;
}
