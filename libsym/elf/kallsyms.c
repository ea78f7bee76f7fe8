#include "libsym/elf/kallsyms.h"

#include "base/text/hex.h"
#include "base/mem.h"
#include "libsym/elf/read_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MODULES_MAX = UINT16_MAX };

/* One line's parts, as views into the text. */
struct line {
	uint64_t addr;
	char type;
	const char *name, *module; /* module NULL: the kernel */
	size_t name_len, module_len;
};

/* Read the number at p; returns its end, or p without a number or if it exceeds 64 bits. */
static const char *parse_address(const char *p, const char *end, uint64_t *addr)
{
	uint32_t high, low;
	if (end - p > 16 && hex_eight(p, &high) && hex_eight(p + 8, &low)) {
		*addr = (uint64_t)high << 32 | low;
		return p + 16;
	}
	int digits = 0, x;
	for (*addr = 0; p < end && (x = hex_digit(*p)) >= 0 && digits++ < 16; p++)
		*addr = *addr << 4 | (uint64_t)x;
	return p;
}

/* Split [p, end). 1, or 0 if it is not such a line. */
static int split_line(const char *p, const char *end, struct line *l)
{
	const char *digits = p;
	p = parse_address(p, end, &l->addr);
	if (p == digits || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return 0;
	l->type = p[1];
	l->name = p += 3;
	l->module = NULL;
	l->name_len = (size_t)(end - p);
	if (end[-1] > ' ' && end[-1] != ']') /* most lines */
		return 1;
	while (p < end && *p != '\t' && *p != ' ')
		p++;
	l->name_len = (size_t)(p - l->name);
	while (p < end && (*p == '\t' || *p == ' '))
		p++;
	if (p < end && *p == '[' && end[-1] == ']') {
		l->module = p + 1;
		l->module_len = (size_t)(end - 1 - l->module);
	}
	return l->name_len > 0;
}

static int is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int is_data(char type)
{
	return type == 'd' || type == 'D' || type == 'b' || type == 'B';
}

/* Modules come in runs, so the last one is tried first. */
static int module_number(struct kallsyms *k, const struct line *l, uint32_t *last)
{
	if (!l->module) {
		*last = 0;
		return 0;
	}
	if (*last && strtab_len(&k->modules, *last) == l->module_len &&
	    !memcmp(strtab_get(&k->modules, *last), l->module, l->module_len))
		return 0;
	return strtab_intern_n(&k->modules, l->module, l->module_len, last);
}

/* Move the name to the front of the text, after those already there. */
static char *keep_name(struct symtab_builder *b, const struct line *l)
{
	char *name = b->names + b->names_size;
	memmove(name, l->name, l->name_len);
	name[l->name_len] = '\0';
	b->names_size += l->name_len + 1;
	return name;
}

static int add_line(struct kallsyms *k, struct symtab_builder *b, const struct line *l,
		    uint32_t *module)
{
	int text = is_text(l->type);
	if ((!text && !is_data(l->type)) || l->name[0] == '$')
		return 0;
	k->lines++;
	if (text && !l->addr)
		k->zeroes++;
	int rc = module_number(k, l, module);
	if (rc || *module > MODULES_MAX)
		return rc;
	const char *name = keep_name(b, l);
	if (!*module && *name == '_' && !strcmp(name, "_text"))
		k->text = l->addr;
	if (!*module && *name == '_' && !strcmp(name, "_stext"))
		k->stext = l->addr;
	int upper = l->type < 'a';
	struct raw_symbol r = {.start = l->addr,
			       .end = l->addr,
			       .limit = UINT64_MAX,
			       .name = name,
			       .module = (uint16_t)*module,
			       .bind = l->type == 'W' ? STB_WEAK
				       : upper        ? STB_GLOBAL
						      : STB_LOCAL,
			       .type = text ? STT_FUNC : STT_OBJECT};
	return vec_push(&b->raw, r);
}

/* Parse and own a text, which may be written to. */
static int parse_owned(char *text, size_t n, const char *name, struct kallsyms *out,
		       struct err *e)
{
	enum { LINE_MIN = 32 }; /* most are longer */
	struct symtab_builder b = {.kallsyms = 1, .plain_names = 1, .names = text};
	struct line l = {0};
	uint32_t module = 0;
	uint64_t ntext = 0;
	int rc = 0;
	*out = (struct kallsyms){0};
	b.raw.v = mem_alloc_large(n / LINE_MIN * sizeof(*b.raw.v));
	b.raw.cap = b.raw.v ? n / LINE_MIN : 0;
	for (char *p = text, *end = text + n; !rc && p < end;) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		if (split_line(p, nl, &l)) {
			ntext += is_text(l.type) && l.addr;
			rc = add_line(out, &b, &l, &module);
		}
		p = nl + 1;
	}
	if (rc)
		rc = err_nomem(e);
	else if (!out->lines)
		rc = err_set(e, ERR_FORMAT, "%s: has no kernel symbols", name);
	else if (!ntext)
		rc = err_set(e, ERR_REFUSED,
			     "%s: all addresses are 0 (read under kptr_restrict, not as root)",
			     name);
	else
		rc = symtab_builder_finish(&b, &out->table, e);
	symtab_builder_release(&b);
	if (rc)
		kallsyms_release(out);
	return rc;
}

int kallsyms_parse(const char *text, size_t n, const char *name, struct kallsyms *out,
		   struct err *e)
{
	*out = (struct kallsyms){0};
	char *copy = mem_alloc(n + 1);
	if (!copy)
		return err_nomem(e);
	memcpy(copy, text, n);
	copy[n] = '\0';
	return parse_owned(copy, n, name, out, e);
}

size_t kallsyms_lines(char *text, size_t n)
{
	size_t kept = 0;
	struct line l;
	for (char *p = text, *end = text + n, *next; p < end; p = next) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		next = nl ? nl + 1 : end;
		if (!split_line(p, nl ? nl : end, &l))
			continue;
		memmove(text + kept, p, (size_t)(next - p));
		kept += (size_t)(next - p);
	}
	return kept;
}

int kallsyms_load(int fd, const char *name, struct kallsyms *out, struct err *e)
{
	char *text;
	size_t n;
	*out = (struct kallsyms){0};
	int rc = read_fd(fd, name, (size_t)1 << 30, &text, &n, e);
	return rc ? rc : parse_owned(text, n, name, out, e);
}

enum { FIRST = 16 << 10 };

/* The whole lines among the first n - 1 bytes of a file. */
static void first_lines(int fd, char *text, size_t n)
{
	size_t had = 0;
	ssize_t got;
	while (had + 1 < n && (got = pread(fd, text + had, n - had - 1, (off_t)had)) > 0)
		had += (size_t)got;
	while (had + 1 == n && had && text[had - 1] != '\n')
		had--, n--;
	text[had] = '\0';
}

int kallsyms_detect(const char *path)
{
	char text[FIRST];
	struct line l;
	int fd, matches = 0;
	if (file_open(path, 0, &fd, NULL))
		return 0;
	first_lines(fd, text, sizeof(text));
	close(fd);
	for (char *p = text, *nl; !matches && *p; p = nl + !!*nl) {
		nl = p + strcspn(p, "\n");
		matches = split_line(p, nl, &l);
	}
	return matches;
}

int kallsyms_is_zeroed(int fd)
{
	char text[FIRST];
	int zeroed = 1;
	first_lines(fd, text, sizeof(text));
	for (char *p = text; zeroed && *p; p += strcspn(p, "\n"), p += !!*p)
		zeroed = p[strspn(p, "0")] == ' ';
	return zeroed;
}

int kallsyms_places(const char *path, const char *name, uint64_t addr)
{
	char text[512];
	struct line l = {0};
	size_t len = strlen(name);
	int found = 0;
	FILE *f = fopen(path, "re");
	if (!f)
		file_failed(path, NULL); /* notes a shortage */
	while (f && !found && fgets(text, sizeof(text), f))
		found = split_line(text, text + strcspn(text, "\n"), &l) && !l.module &&
			l.name_len == len && !memcmp(l.name, name, len);
	if (f)
		fclose(f);
	return found && l.addr == addr;
}

int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct symbol_hit *hit,
		  const char **module)
{
	if (!k->table || !symtab_find(k->table, addr, hit))
		return 0;
	if (module)
		*module = strtab_get(&k->modules, hit->module);
	return 1;
}

void kallsyms_release(struct kallsyms *k)
{
	symtab_free(k->table);
	strtab_release(&k->modules);
	*k = (struct kallsyms){0};
}

int kernel_notes_build_id(const char *path, struct build_id *id, struct err *e)
{
	char *notes;
	size_t n;
	int rc = read_file(path, 1 << 20, &notes, &n, e);
	if (rc)
		return rc;
	if (!build_id_from_notes(notes, n, 0, 4, id))
		rc = err_set(e, ERR_NOTFOUND, "%s: has no build-id", path);
	mem_free(notes);
	return rc;
}
