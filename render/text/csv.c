#include "render/text/csv.h"
#include "base/err.h"
#include "render/text/escape.h"

#include <string.h>

void csv_field(struct buf *b, const char *text, size_t size)
{
	struct buf visible = {0};
	escape_controls(&visible, text, size);
	const char *s = buf_cstr(&visible);
	size_t n = visible.n;
	if (buf_failed(&visible))
		b->failed = ERR_NOMEM;
	int quote = memchr(s, ',', n) || memchr(s, '"', n);
	if (!quote) {
		buf_add(b, s, n);
		buf_release(&visible);
		return;
	}
	buf_char(b, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			buf_char(b, '"');
		buf_char(b, s[i]);
	}
	buf_char(b, '"');
	buf_release(&visible);
}
