#include "libsym/elf/elf_file.h"

#include "base/text/hex.h"

#include <string.h>

static int known(const struct build_id *id)
{
	for (int i = 0; i < id->len && i < BUILD_ID_MAX; i++)
		if (id->v[i])
			return 1;
	return 0;
}

int file_id_fits(const struct file_id *a, const struct file_id *b)
{
	return a->ino == b->ino && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor &&
	       (!a->generation || !b->generation || a->generation == b->generation);
}

int build_id_equal(const struct build_id *a, const struct build_id *b)
{
	if (!known(a) || !known(b))
		return 0;
	const struct build_id *s = a->len < b->len ? a : b, *l = s == a ? b : a;
	if (memcmp(s->v, l->v, s->len) != 0)
		return 0;
	for (int i = s->len; i < l->len; i++)
		if (l->v[i])
			return 0;
	return 1;
}

char *build_id_hex(const struct build_id *id, char *out)
{
	static const char digit[] = "0123456789abcdef";
	int n = id->len < BUILD_ID_MAX ? id->len : BUILD_ID_MAX;
	for (int i = 0; i < n; i++) {
		out[2 * i] = digit[id->v[i] >> 4];
		out[2 * i + 1] = digit[id->v[i] & 15];
	}
	out[2 * n] = '\0';
	return out;
}

int build_id_parse(const char *hex, struct build_id *id)
{
	size_t n = strlen(hex);
	memset(id, 0, sizeof(*id));
	if (n % 2 || n / 2 > BUILD_ID_MAX)
		return ERR_FORMAT;
	for (size_t i = 0; i < n; i++) {
		int x = hex_digit(hex[i]);
		if (x < 0)
			return ERR_FORMAT;
		id->v[i / 2] = (uint8_t)(id->v[i / 2] << 4 | x);
	}
	id->len = (uint8_t)(n / 2);
	return 0;
}

int build_id_from_notes(const void *notes, size_t size, int swap, size_t align,
			struct build_id *id)
{
	struct bytes b = bytes_init(notes, size, swap);
	size_t pad = align == 8 ? 7 : 3;
	while (bytes_left(&b) >= 12) {
		uint32_t namesz = bytes_u32(&b), descsz = bytes_u32(&b), type = bytes_u32(&b);
		size_t left = bytes_left(&b);
		if (namesz > left || descsz > left)
			return 0;
		/* The padding counts from the note's start: a 12-byte header, then the name. */
		size_t name_len = ((12 + (size_t)namesz + pad) & ~pad) - 12;
		const char *name = bytes_take(&b, name_len < left ? name_len : left);
		const uint8_t *desc = bytes_take(&b, descsz);
		if (!name || !desc)
			return 0;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(name, "GNU", 4) &&
		    descsz) {
			memset(id, 0, sizeof(*id));
			id->len = (uint8_t)(descsz < BUILD_ID_MAX ? descsz : BUILD_ID_MAX);
			memcpy(id->v, desc, id->len);
			return 1;
		}
		size_t rest = (pad + 1 - (descsz & pad)) & pad;
		bytes_skip(&b, rest < bytes_left(&b) ? rest : bytes_left(&b));
	}
	return 0;
}
