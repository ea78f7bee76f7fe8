/* The Model Context Protocol (render/export/mcp.h): what is answered, and hostile messages. */
#include "tests/lib/unit.h"

#include "libtime/side/json_pull.h"
#include "render/export/mcp.h"

#include <stdlib.h>

static const struct mcp_param params[] = {
	{"file", MCP_TEXT, 1, "a file"},    {"filter", MCP_TEXTS, 0, "some"},
	{"top", MCP_NUMBER, 0, "how many"}, {"all", MCP_FLAG, 0, "all"},
	{NULL, MCP_TEXT, 0, NULL},
};
static const struct mcp_tool tools[] = {{"report", "tables", params}};

/* Shows its arguments; "fail" fails. */
static int call(void *ctx, const struct mcp_tool *tool, const struct mcp_arg *args, size_t n,
		struct buf *answer, struct buf *messages, int *failed)
{
	++*(int *)ctx;
	buf_str(answer, tool->name);
	buf_str(messages, "said");
	for (size_t i = 0; i < n; i++) {
		buf_fmt(answer, " %s=%s", args[i].param->name, args[i].value);
		*failed |= !strcmp(args[i].value, "fail");
	}
	return 0;
}

static int calls;
static const struct mcp_server server = {tools, 1, "1", "read", call, &calls};

static const char *answer(struct buf *out, const char *message)
{
	buf_clear(out);
	assert_int_equal(mcp_answer(&server, message, strlen(message), out), 0);
	return buf_cstr(out);
}

/* The response to `message` has the text `want`. */
static void expect(const char *message, const char *want)
{
	struct buf out = {0};
	const char *got = answer(&out, message);
	if (!strstr(got, want))
		fail_msg("%s: %s", message, got);
	buf_release(&out);
}

static void silent(const char *message)
{
	struct buf out = {0};
	assert_string_equal(answer(&out, message), "");
	buf_release(&out);
}

#define M(rest) "{\"jsonrpc\":\"2.0\"," rest "}"
#define CALL(arguments)                  \
	M("\"id\":7,\"method\":\"tools/" \
	  "call\",\"params\":{\"name\":\"report\",\"arguments\":" arguments "}")

static void revisions_are_agreed_on(void **state)
{
	(void)state;
	expect(M("\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-03-"
		 "26\"}"),
	       "\"protocolVersion\":\"2025-03-26\"");
	expect(M("\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"1999-01-"
		 "01\"}"),
	       "\"protocolVersion\":\"2025-11-25\"");
	expect(M("\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":"
		 "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}"),
	       "\"supportedVersions\":[\"2026-07-28\",");
	expect(M("\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
		 "{\"io.modelcontextprotocol/protocolVersion\":\"2999-01-01\"}}"),
	       "\"code\":-32022");
	silent(M("\"method\":\"notifications/initialized\""));
}

static void tools_are_listed_with_their_arguments(void **state)
{
	(void)state;
	expect(M("\"id\":\"x\\n\",\"method\":\"tools/list\""),
	       "{\"jsonrpc\":\"2.0\",\"id\":\"x\\u000a\",");
	expect(M("\"id\":1,\"method\":\"tools/list\""),
	       "\"top\":{\"type\":\"integer\",\"description\":\"how many\"}");
	expect(M("\"id\":1,\"method\":\"tools/list\""),
	       "\"required\":[\"file\"],\"additionalProperties\":false}");
}

static void a_call_gets_its_arguments(void **state)
{
	(void)state;
	expect(CALL("{\"file\":\"a\\u0062\",\"filter\":[\"x>1\",\"y\"],\"top\":3,\"all\":"
		    "true}"),
	       "\"text\":\"report file=ab filter=x>1 filter=y top=3 "
	       "all=1\"},{\"type\":\"text\",\"text\":\"said\"}],"
	       "\"isError\":false");
	expect(CALL("{\"file\":\"a\",\"all\":false,\"top\":null}"),
	       "\"text\":\"report file=a\"");
	expect(CALL("{\"file\":\"fail\"}"), "\"isError\":true");
}

/* What a model can mend is the answer of a call; the rest an error of the protocol. */
static void wrong_calls_say_what_is_wrong(void **state)
{
	int before = calls;
	(void)state;
	expect(CALL("{}"), "the argument 'file' is missing\"}],\"isError\":true");
	expect(CALL("{\"file\":1}"), "the argument 'file' has another type");
	expect(CALL("{\"file\":\"a\",\"top\":-1}"), "the argument 'top' has another type");
	expect(CALL("{\"file\":\"a\",\"top\":1e9}"), "the argument 'top' has another type");
	expect(CALL("{\"file\":\"a\\u0000b\"}"), "the argument 'file' has another type");
	expect(CALL("{\"file\":\"a\",\"output\":\"/etc/x\"}"),
	       "no such argument; there are: file filter top all");
	expect(CALL("[]"), "the arguments are no object");
	expect(M("\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"record\"}"),
	       "\"code\":-32602");
	expect(M("\"id\":1,\"method\":\"resources/list\""), "\"code\":-32601");
	assert_int_equal(calls, before);
}

static void what_is_no_request_is_refused(void **state)
{
	(void)state;
	expect("nonsense", "\"id\":null,\"error\":{\"code\":-32700");
	expect("{\"jsonrpc\":\"2.0\",\"id\":1", "\"code\":-32700");
	expect("[]", "\"code\":-32600");
	expect("{\"id\":1,\"method\":\"ping\"}", "\"id\":1,\"error\":{\"code\":-32600");
	expect(M("\"id\":1.5,\"method\":\"ping\""), "\"id\":null,\"error\":{\"code\":-32600");
	expect(M("\"id\":null,\"method\":\"ping\""), "\"code\":-32600");
	expect(M("\"id\":[1],\"method\":\"ping\""), "\"code\":-32600");
	expect(M("\"id\":1,\"method\":5"), "\"code\":-32600");
	silent(M("\"id\":1,\"result\":{}"));
}

/* Too deep, too many, too long. */
static void large_messages_are_refused(void **state)
{
	struct buf b = {0}, out = {0};
	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_char(&b, '[');
	assert_non_null(strstr(answer(&out, buf_cstr(&b)), "-32700"));
	buf_clear(&b);
	buf_str(&b,
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"report\",\"arguments\":{\"file\":\"a\",\"filter\":[\"\"");
	for (int i = 0; i < 1000; i++)
		buf_str(&b, ",\"x\"");
	buf_str(&b, "]}}}");
	assert_non_null(strstr(answer(&out, buf_cstr(&b)), "too many arguments"));
	buf_clear(&b);
	while (b.n <= MCP_MESSAGE)
		buf_str(&b, "          ");
	assert_non_null(strstr(answer(&out, buf_cstr(&b)), "-32600"));
	buf_release(&b);
	buf_release(&out);
}

/* Whatever comes, each answer is one line of JSON. */
static void check_line(struct buf *out)
{
	struct json_pull j;
	if (!out->n)
		return;
	assert_ptr_equal(memchr(out->v, '\n', out->n), out->v + out->n - 1);
	json_pull_init(&j, out->v, out->n);
	assert_int_equal(json_pull_peek(&j), '{');
	json_pull_skip(&j);
	assert_true(json_pull_done(&j) && !j.bad);
	json_pull_release(&j);
}

static void changed_messages_are_answered_in_json(void **state)
{
	static const char *const seeds[] = {
		CALL("{\"file\":\"a\\u0062\",\"filter\":[\"x>1\",\"y\"],\"top\":3,\"all\":"
		     "true}"),
		M("\"id\":\"x\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
		  "\"2025-03-26\"}"),
		M("\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
		  "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}"),
	};
	static const char bytes[] = "\"\\{}[],:0-e\n\x01\x80\xff\xed\xa0 un";
	struct buf out = {0};
	unsigned seed = 1;
	(void)state;
	for (int i = 0; i < 60000; i++) {
		char m[512];
		const char *from = seeds[i % 3];
		size_t n = strlen(from);
		memcpy(m, from, n);
		for (int k = 0; k <= i % 4; k++) {
			seed = seed * 1103515245 + 12345;
			m[(seed >> 8) % n] = bytes[(seed >> 20) % (sizeof(bytes) - 1)];
		}
		seed = seed * 1103515245 + 12345;
		size_t cut = i % 5 ? n : (seed >> 8) % n;
		char *copy = malloc(cut + 1); /* a byte too far is seen by sanitizers */
		memcpy(copy, m, cut);
		buf_clear(&out);
		assert_int_equal(mcp_answer(&server, copy, cut, &out), 0);
		check_line(&out);
		free(copy);
	}
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(revisions_are_agreed_on),
		cmocka_unit_test(tools_are_listed_with_their_arguments),
		cmocka_unit_test(a_call_gets_its_arguments),
		cmocka_unit_test(wrong_calls_say_what_is_wrong),
		cmocka_unit_test(what_is_no_request_is_refused),
		cmocka_unit_test(large_messages_are_refused),
		cmocka_unit_test(changed_messages_are_answered_in_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
