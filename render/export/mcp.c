#include "render/export/mcp.h"
#include "base/err.h"
#include "base/vec.h"
#include "libtime/side/json_pull.h"
#include "render/text/json.h"

#include <string.h>

enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	NO_METHOD = -32601,
	INVALID_PARAMS = -32602,
	UNSUPPORTED_VERSION = -32022,
};

/* The newest first; those from `initialize_from` on begin with initialize. */
static const char *const versions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
				       "2024-11-05"};
enum { VERSIONS = sizeof(versions) / sizeof(*versions), INITIALIZE_FROM = 1 };

/* A message; texts are in `text`, by offset. */
struct message {
	struct buf id;           /* as JSON; empty: none */
	struct buf method, tool; /* names */
	struct buf version;      /* asked for */
	const char *arguments;   /* of a call */
	size_t narguments;
	int has_method, is_response, bad_id;
};

static void message_release(struct message *m)
{
	buf_release(&m->id);
	buf_release(&m->method);
	buf_release(&m->tool);
	buf_release(&m->version);
}

/* --- reading ---------------------------------------------------------------------------- */

/* A text into `to`; 0: it is none, or has a NUL inside. */
static int read_text(struct json_pull *j, struct buf *to)
{
	const char *s;
	size_t n;
	buf_clear(to);
	if (!json_pull_string(j, &s, &n) || memchr(s, '\0', n))
		return 0;
	buf_add(to, s, n);
	buf_cstr(to);
	return 1;
}

/* Is it a whole number that every reader keeps? */
static int is_whole(const char *s, size_t n)
{
	enum { DIGITS = 15 };
	size_t sign = n && *s == '-';
	if (n == sign || n - sign > DIGITS)
		return 0;
	for (size_t i = sign; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return 0;
	return 1;
}

static void read_id(struct json_pull *j, struct message *m)
{
	struct json to = {.b = &m->id};
	char kind = json_pull_peek(j);
	const char *s;
	size_t n;
	buf_clear(&m->id);
	if (kind == '"' && json_pull_string(j, &s, &n))
		json_text(&to, NULL, s, n);
	else if (kind == '0' && json_pull_scalar(j, &s, &n) && is_whole(s, n))
		buf_add(&m->id, s, n);
	else
		m->bad_id = 1;
	if (kind != '"' && kind != '0')
		json_pull_skip(j);
}

static void read_meta(struct json_pull *j, struct message *m)
{
	if (!json_pull_enter(j, '{')) {
		json_pull_skip(j);
		return;
	}
	while (json_pull_key(j))
		if (!json_pull_is(j, "io.modelcontextprotocol/protocolVersion") ||
		    json_pull_peek(j) != '"')
			json_pull_skip(j);
		else
			read_text(j, &m->version);
}

static void read_params(struct json_pull *j, struct message *m)
{
	if (!json_pull_enter(j, '{')) {
		json_pull_skip(j);
		return;
	}
	while (json_pull_key(j)) {
		char kind = json_pull_peek(j);
		if (json_pull_is(j, "name") && kind == '"') {
			read_text(j, &m->tool);
		} else if (json_pull_is(j, "protocolVersion") && kind == '"') {
			read_text(j, &m->version);
		} else if (json_pull_is(j, "_meta")) {
			read_meta(j, m);
		} else if (json_pull_is(j, "arguments")) {
			m->arguments = j->p;
			json_pull_skip(j);
			m->narguments = (size_t)(j->p - m->arguments);
		} else {
			json_pull_skip(j);
		}
	}
}

/* 0, or the error's code. */
static int read_message(struct message *m, const char *s, size_t n)
{
	struct json_pull j;
	int two = 0;
	json_pull_init(&j, s, n);
	int object = json_pull_enter(&j, '{');
	while (object && json_pull_key(&j)) {
		if (json_pull_is(&j, "jsonrpc")) {
			struct buf v = {0};
			two = json_pull_peek(&j) == '"' && read_text(&j, &v) &&
			      !strcmp(buf_cstr(&v), "2.0");
			buf_release(&v);
		} else if (json_pull_is(&j, "id")) {
			read_id(&j, m);
		} else if (json_pull_is(&j, "method") && json_pull_peek(&j) == '"') {
			m->has_method = read_text(&j, &m->method);
		} else if (json_pull_is(&j, "params")) {
			read_params(&j, m);
		} else {
			m->is_response |=
				json_pull_is(&j, "result") || json_pull_is(&j, "error");
			json_pull_skip(&j);
		}
	}
	if (!object)
		json_pull_skip(&j);
	int whole = json_pull_done(&j) && !j.bad;
	json_pull_release(&j);
	return !whole ? PARSE_ERROR
	       : !object || !two || m->bad_id || (!m->has_method && !m->is_response)
		       ? INVALID_REQUEST
		       : 0;
}

/* --- writing ---------------------------------------------------------------------------- */

static void begin(struct json *j, struct message *m)
{
	json_open(j, NULL, '{');
	json_str(j, "jsonrpc", "2.0");
	if (m->id.n && !m->bad_id)
		json_raw(j, "id", buf_cstr(&m->id));
	else
		json_null(j, "id");
}

static void end(struct json *j)
{
	json_close(j, '}');
	buf_char(j->b, '\n');
}

static void put_versions(struct json *j, const char *key)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < VERSIONS; i++)
		json_str(j, NULL, versions[i]);
	json_close(j, ']');
}

static void put_error(struct json *j, struct message *m, int code, const char *what)
{
	begin(j, m);
	json_open(j, "error", '{');
	json_i64(j, "code", code);
	json_str(j, "message", what);
	if (code == UNSUPPORTED_VERSION) {
		json_open(j, "data", '{');
		put_versions(j, "supported");
		json_text(j, "requested", m->version.v, m->version.n);
		json_close(j, '}');
	}
	json_close(j, '}');
	end(j);
}

static void put_server(struct json *j, const struct mcp_server *s, const char *key)
{
	json_open(j, key, '{');
	json_str(j, "name", "perfkit");
	json_str(j, "version", s->version);
	json_close(j, '}');
}

static void begin_result(struct json *j, struct message *m, const struct mcp_server *s)
{
	begin(j, m);
	json_open(j, "result", '{');
	json_str(j, "resultType", "complete");
	json_open(j, "_meta", '{');
	put_server(j, s, "io.modelcontextprotocol/serverInfo");
	json_close(j, '}');
}

static void end_result(struct json *j)
{
	json_close(j, '}');
	end(j);
}

static void put_cache(struct json *j)
{
	json_u64(j, "ttlMs", 3600000);
	json_str(j, "cacheScope", "public");
}

static int version_index(const struct message *m)
{
	for (int i = 0; i < VERSIONS; i++)
		if (m->version.n == strlen(versions[i]) &&
		    !memcmp(m->version.v, versions[i], m->version.n))
			return i;
	return VERSIONS;
}

/* `initialize` agrees on a revision, `server/discover` lists them. */
static void put_hello(struct json *j, struct message *m, const struct mcp_server *s,
		      int discover)
{
	int i = version_index(m);
	begin_result(j, m, s);
	if (discover)
		put_versions(j, "supportedVersions");
	else
		json_str(j, "protocolVersion",
			 versions[i >= INITIALIZE_FROM && i < VERSIONS ? i : INITIALIZE_FROM]);
	json_open(j, "capabilities", '{');
	json_open(j, "tools", '{');
	json_close(j, '}');
	json_close(j, '}');
	put_server(j, s, "serverInfo");
	json_str(j, "instructions", s->instructions);
	if (discover)
		put_cache(j);
	end_result(j);
}

static void put_param(struct json *j, const struct mcp_param *p)
{
	static const char *const types[] = {"string", "array", "integer", "boolean"};
	json_open(j, p->name, '{');
	json_str(j, "type", types[p->type]);
	if (p->type == MCP_TEXTS) {
		json_open(j, "items", '{');
		json_str(j, "type", "string");
		json_close(j, '}');
	}
	json_str(j, "description", p->about);
	json_close(j, '}');
}

static void put_tool(struct json *j, const struct mcp_tool *t)
{
	json_open(j, NULL, '{');
	json_str(j, "name", t->name);
	json_str(j, "description", t->about);
	json_open(j, "inputSchema", '{');
	json_str(j, "type", "object");
	json_open(j, "properties", '{');
	for (const struct mcp_param *p = t->params; p->name; p++)
		put_param(j, p);
	json_close(j, '}');
	json_open(j, "required", '[');
	for (const struct mcp_param *p = t->params; p->name; p++)
		if (p->required)
			json_str(j, NULL, p->name);
	json_close(j, ']');
	json_bool(j, "additionalProperties", 0);
	json_close(j, '}');
	json_open(j, "annotations", '{');
	json_bool(j, "readOnlyHint", 1);
	json_bool(j, "openWorldHint", 0);
	json_close(j, '}');
	json_close(j, '}');
}

static void put_tools(struct json *j, struct message *m, const struct mcp_server *s)
{
	begin_result(j, m, s);
	json_open(j, "tools", '[');
	for (size_t i = 0; i < s->ntools; i++)
		put_tool(j, &s->tools[i]);
	json_close(j, ']');
	put_cache(j);
	end_result(j);
}

/* --- calls ------------------------------------------------------------------------------ */

/* The arguments of a call. Values are offsets in `text` until all are read. */
struct call {
	const struct mcp_tool *tool;
	struct mcp_arg args[MCP_ARGS];
	size_t at[MCP_ARGS], n;
	struct buf text, wrong;
};

static void add_value(struct call *c, struct json_pull *j, const struct mcp_param *p)
{
	const char *s;
	size_t n;
	char kind = json_pull_peek(j);
	static const char *const kinds[] = {"\"", "\"", "0", "tf"};
	if (kind && strchr(kinds[p->type], kind) && json_pull_scalar(j, &s, &n) &&
	    !memchr(s, '\0', n) && (p->type != MCP_NUMBER || (is_whole(s, n) && *s != '-'))) {
		if (p->type == MCP_FLAG && *s == 'f')
			return;
		if (c->n == MCP_ARGS) {
			buf_str(&c->wrong, "too many arguments");
			return;
		}
		c->args[c->n].param = p;
		c->at[c->n++] = c->text.n;
		if (p->type == MCP_FLAG)
			buf_char(&c->text, '1');
		else
			buf_add(&c->text, s, n);
		buf_char(&c->text, '\0');
		return;
	}
	if (kind && !strchr(kinds[p->type], kind))
		json_pull_skip(j);
	if (!c->wrong.n)
		buf_fmt(&c->wrong, "the argument '%s' has another type", p->name);
}

static void add_argument(struct call *c, struct json_pull *j)
{
	const struct mcp_param *p = c->tool->params;
	while (p->name && !json_pull_is(j, p->name))
		p++;
	if (!p->name) {
		if (!c->wrong.n) {
			buf_fmt(&c->wrong,
				"%s has no such argument; there are:", c->tool->name);
			for (p = c->tool->params; p->name; p++)
				buf_fmt(&c->wrong, " %s", p->name);
		}
		json_pull_skip(j);
	} else if (json_pull_peek(j) == 'n') { /* null: not given */
		json_pull_skip(j);
	} else if (p->type == MCP_TEXTS && json_pull_enter(j, '[')) {
		while (json_pull_item(j))
			add_value(c, j, p);
	} else {
		add_value(c, j, p);
	}
}

static int has_argument(const struct call *c, const struct mcp_param *p)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->args[i].param == p)
			return 1;
	return 0;
}

static int read_arguments(struct call *c, const struct message *m)
{
	struct json_pull j;
	json_pull_init(&j, m->arguments ? m->arguments : "{}",
		       m->arguments ? m->narguments : 2);
	if (json_pull_enter(&j, '{'))
		while (json_pull_key(&j))
			add_argument(c, &j);
	else
		buf_str(&c->wrong, "the arguments are no object");
	json_pull_release(&j);
	for (const struct mcp_param *p = c->tool->params; p->name && !c->wrong.n; p++)
		if (p->required && !has_argument(c, p))
			buf_fmt(&c->wrong, "the argument '%s' is missing", p->name);
	for (size_t i = 0; i < c->n; i++)
		c->args[i].value = c->text.v + c->at[i];
	return buf_failed(&c->text) || buf_failed(&c->wrong) ? ERR_NOMEM : 0;
}

/* An element of the answer of a call. */
static void put_content(struct json *j, const struct buf *text)
{
	if (!text->n)
		return;
	json_open(j, NULL, '{');
	json_str(j, "type", "text");
	json_text(j, "text", text->v, text->n);
	json_close(j, '}');
}

static int put_call(struct json *j, struct message *m, const struct mcp_server *s,
		    const struct mcp_tool *tool)
{
	struct call c = {.tool = tool};
	struct buf answer = {0}, messages = {0};
	int failed = 0, rc = read_arguments(&c, m);
	if (!rc && c.wrong.n) {
		buf_add(&answer, c.wrong.v, c.wrong.n);
		failed = 1;
	} else if (!rc) {
		rc = s->call(s->ctx, tool, c.args, c.n, &answer, &messages, &failed);
	}
	rc = rc || buf_failed(&answer) || buf_failed(&messages) ? ERR_NOMEM : 0;
	begin_result(j, m, s);
	json_open(j, "content", '[');
	put_content(j, &answer);
	put_content(j, &messages);
	json_close(j, ']');
	json_bool(j, "isError", failed);
	end_result(j);
	buf_release(&answer);
	buf_release(&messages);
	buf_release(&c.text);
	buf_release(&c.wrong);
	return rc;
}

static int call(struct json *j, struct message *m, const struct mcp_server *s)
{
	for (size_t i = 0; i < s->ntools; i++)
		if (m->tool.n == strlen(s->tools[i].name) &&
		    !memcmp(m->tool.v, s->tools[i].name, m->tool.n))
			return put_call(j, m, s, &s->tools[i]);
	put_error(j, m, INVALID_PARAMS, "there is no such tool (tools/list)");
	return 0;
}

static int is(const struct message *m, const char *method)
{
	return m->method.n == strlen(method) && !memcmp(m->method.v, method, m->method.n);
}

static int respond(struct json *j, struct message *m, const struct mcp_server *s)
{
	int rc = 0;
	if (is(m, "initialize") || is(m, "server/discover")) {
		if (is(m, "server/discover") && m->version.n && version_index(m) == VERSIONS)
			put_error(j, m, UNSUPPORTED_VERSION, "unsupported protocol version");
		else
			put_hello(j, m, s, is(m, "server/discover"));
	} else if (m->version.n && version_index(m) == VERSIONS) {
		put_error(j, m, UNSUPPORTED_VERSION, "unsupported protocol version");
	} else if (is(m, "ping")) {
		begin_result(j, m, s);
		end_result(j);
	} else if (is(m, "tools/list")) {
		put_tools(j, m, s);
	} else if (is(m, "tools/call")) {
		rc = call(j, m, s);
	} else {
		put_error(j, m, NO_METHOD, "there is no such method");
	}
	return rc;
}

int mcp_answer(const struct mcp_server *s, const char *message, size_t n, struct buf *out)
{
	struct message m = {.has_method = 0};
	struct json j = {.b = out};
	int rc = 0, wrong = n > MCP_MESSAGE ? INVALID_REQUEST : read_message(&m, message, n);
	if (wrong)
		put_error(&j, &m, wrong,
			  wrong == PARSE_ERROR ? "not JSON" : "not a request of JSON-RPC 2.0");
	else if (m.id.n && m.has_method)
		rc = respond(&j, &m, s);
	rc = rc || buf_failed(&m.id) || buf_failed(&m.method) || buf_failed(&m.tool) ||
			     buf_failed(&m.version) || buf_failed(out)
		     ? ERR_NOMEM
		     : 0;
	message_release(&m);
	return rc;
}
