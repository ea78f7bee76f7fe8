/*
 * mcp.h - the Model Context Protocol: answers one JSON-RPC message at a time, of a client that
 * was told of tools. Who runs a tool is the caller's business.
 *
 * Revisions 2024-11-05 to 2025-11-25, which begin with `initialize`, and 2026-07-28, whose every
 * request names its revision. Messages are untrusted.
 */
#ifndef RENDER_EXPORT_MCP_H
#define RENDER_EXPORT_MCP_H

#include "base/text/buf.h"

enum mcp_type { MCP_TEXT, MCP_TEXTS, MCP_NUMBER, MCP_FLAG };

struct mcp_param {
	const char *name; /* NULL ends the list */
	enum mcp_type type;
	int required;
	const char *about;
};

struct mcp_tool {
	const char *name, *about;
	const struct mcp_param *params;
};

/* An argument; a list has one for each element. Texts have no NUL inside. */
struct mcp_arg {
	const struct mcp_param *param;
	const char *value; /* of a number its digits, of a flag that is set "1" */
};

enum { MCP_ARGS = 128, MCP_MESSAGE = 1 << 20 }; /* most of a call; bytes of a message */

struct mcp_server {
	const struct mcp_tool *tools;
	size_t ntools;
	const char *version, *instructions;
	/* Append the answer, and what else is to be said; *failed: it says what is wrong. 0, or
	 * ERR_NOMEM. */
	int (*call)(void *ctx, const struct mcp_tool *tool, const struct mcp_arg *args,
		    size_t nargs, struct buf *answer, struct buf *messages, int *failed);
	void *ctx;
};

/* Append the response to a message of n bytes, a line; nothing for a notification. ERR_NOMEM. */
int mcp_answer(const struct mcp_server *s, const char *message, size_t n, struct buf *out);

#endif
