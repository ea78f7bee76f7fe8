/* Names as data: nothing hidden, nothing that steers a parser. */
#include "tests/lib/torture.h"

#include "render/text/escape.h"

static void gives(const char *in, size_t n, const char *want)
{
	struct buf b = {0};
	escape_xml(&b, in, n);
	assert_string_equal(buf_cstr(&b), want);
	buf_release(&b);
}

#define GIVES(in, want) gives(in, sizeof(in) - 1, want)

static void xml_characters_become_entities(void **state)
{
	(void)state;
	GIVES("<script>alert('x')</script>", "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
	GIVES("a]]>b&\"", "a]]&gt;b&amp;&quot;");
	GIVES("plain_name(int)::x", "plain_name(int)::x");
}

static void control_characters_become_pictures(void **state)
{
	(void)state;
	GIVES("a\0b\x1b[1m\n\x7f", "a\xe2\x90\x80"
				   "b\xe2\x90\x9b[1m\xe2\x90\x8a\xe2\x90\xa1");
}

static void invalid_utf8_is_shown_in_hex(void **state)
{
	(void)state;
	GIVES("\xff\xfe", "\\xff\\xfe");
	GIVES("\xc0\xaf", "\\xc0\\xaf");                   /* overlong */
	GIVES("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* surrogate */
	GIVES("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	GIVES("\xe2\x82", "\\xe2\\x82");                   /* cut */
	GIVES("\xe2\x82\xac", "\xe2\x82\xac");
	GIVES("\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5");
}

static void marks_that_hide_or_turn_are_named(void **state)
{
	(void)state;
	GIVES("a\xe2\x80\xae"
	      "b",
	      "a\\u{202e}b");
	GIVES("\xe2\x80\x8b\xef\xbb\xbf\xef\xbf\xbf\xc2\x85",
	      "\\u{200b}\\u{feff}\\u{ffff}\\u{0085}");
	GIVES("\xe2\x81\xa6", "\\u{2066}");
}

static void characters_are_counted_and_cut_whole(void **state)
{
	(void)state;
	const char *s = "a\xe2\x82\xac\xf0\x9f\x94\xa5z";
	assert_int_equal(escape_chars(s, strlen(s)), 4);
	assert_int_equal(escape_prefix(s, strlen(s), 2), 4);
	assert_int_equal(escape_prefix(s, strlen(s), 3), 8);
	assert_int_equal(escape_prefix(s, strlen(s), 9), 9);
}

/* Whatever goes in, valid UTF-8 without XML's characters comes out. */
static void every_byte_pair_is_safe(void **state)
{
	(void)state;
	for (unsigned x = 0; x < 65536; x++) {
		char in[2] = {(char)(x >> 8), (char)x};
		struct buf b = {0};
		escape_xml(&b, in, 2);
		const char *s = buf_cstr(&b);
		for (size_t i = 0; i < b.n; i++) {
			unsigned char c = (unsigned char)s[i];
			assert_true(c >= 0x20 && c != 0x7f && c != '<' && c != '>' && c != '"');
		}
		buf_release(&b);
	}
}

static void controls_go_and_all_else_stays(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"std::map<a;b> \"x\"", "std::map<a;b> \"x\""},
		{"a\033[2J\nb", "a\xe2\x90\x9b[2J\xe2\x90\x8a"
				"b"},
		{"\x7f", "\xe2\x90\xa1"},
		{"na\xc3\xafve", "na\xc3\xafve"},
		{"\xc2\x9b", "\\u{009b}"},
		{"\x9b", "\\x9b"},
		{"latin \xef", "latin \xef"},
		{"\xe2\x80\xae", "\xe2\x80\xae"}, /* reorders, and no terminal obeys it */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf b = {0};
		escape_controls(&b, rows[i].in, strlen(rows[i].in));
		assert_string_equal(buf_cstr(&b), rows[i].out);
		buf_release(&b);
	}
}

static void without_memory_no_text_is_cut_in_silence(void **state)
{
	static const char in[] = "<a>\033[1m & a text that does not fit into the first piece";
	static const char want[] =
		"&lt;a&gt;\xe2\x90\x9b[1m &amp; a text that does not fit into "
		"the first piece";
	(void)state;
	for (int once = 0; once < 2; once++) {
		struct torture t = {.once = once};
		while (!t.whole) {
			struct buf b = {0};
			torture_on(&t);
			escape_xml(&b, in, sizeof(in) - 1);
			int r = buf_failed(&b);
			torture_off(&t, r);
			if (!r)
				assert_string_equal(buf_cstr(&b), want);
			buf_release(&b);
		}
		assert_true(t.failed > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xml_characters_become_entities),
		cmocka_unit_test(control_characters_become_pictures),
		cmocka_unit_test(invalid_utf8_is_shown_in_hex),
		cmocka_unit_test(marks_that_hide_or_turn_are_named),
		cmocka_unit_test(characters_are_counted_and_cut_whole),
		cmocka_unit_test(every_byte_pair_is_safe),
		cmocka_unit_test(controls_go_and_all_else_stays),
		cmocka_unit_test(without_memory_no_text_is_cut_in_silence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
