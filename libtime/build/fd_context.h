/*
 * fd_context.h - the recorded host's file descriptors, before and after the recording: a text
 * that `perfkit record` writes next to the recording (perf.data.context) and bundles contain.
 *
 *	perfkit-context 1
 *	of BYTES			size of the recording that it belongs to
 *	file ...			which mapped file was which: libparse/listed_files.h
 *	snapshot			one or more follow, each with all the lines below
 *	late SECONDS			it was taken that long after the end of the recording
 *	order big			byte order of socket addresses, if not little
 *	process PID NETNS [COMM]	a process, its network namespace net:[4026531840], name
 *	fd N TARGET			in that process: what /proc/PID/fd/N links to
 *	tfd EPFD N			in that process: epoll EPFD watches N
 *					(/proc/PID/fdinfo/EPFD)
 *	net NETNS tcp|tcp6|udp|udp6|unix
 *					the lines that begin with a tab after this one ...
 *	<TAB>...			... are from /proc/net/FILE of that namespace
 *					(net/ipv4/tcp_ipv4.c get_tcp4_sock,
 *					net/unix/af_unix.c unix_seq_show): sockets that an fd
 *					line names, or that listen
 *	fact ...			about the host: fact_table.h
 *
 * A TCP socket whose local port has a listener in its namespace was accepted; any other was
 * connected by this process. A Unix socket with a path was accepted; one without may be either.
 * A descriptor that differs between snapshots is unknown.
 *
 * If all snapshots are late (taken after the recording), a descriptor number may have meant
 * another file during the recording. Accepted and listening sockets then count as sockets of
 * unknown kind, so that no wait is hidden on such evidence. Connected sockets count, since they
 * make a wait visible.
 */
#ifndef LIBTIME_BUILD_FD_CONTEXT_H
#define LIBTIME_BUILD_FD_CONTEXT_H

#include "base/text/buf.h"
#include "libtime/build/fact_table.h"

struct fd_context;

enum { FD_CONTEXT_MAX = 64 << 20 }; /* bytes; longer texts are refused */

/* Parse a text in memory; `name` is for messages. Unknown lines are skipped. ERR_FORMAT
 * (another kind of text), ERR_LIMIT, ERR_NOMEM. */
int fd_context_parse(struct fd_context **out, const char *text, size_t n, const char *name,
		     struct err *e);

/* 1 if a text begins as a context does and names the size of this recording, a file. */
int fd_context_is_of(const char *text, const char *recording);

/* Load PATH.context of the recording `path`; *out is NULL if it does not exist, has no snapshot
 * or belongs to another recording. Errors as above, and ERR_IO. */
int fd_context_load(struct fd_context **out, const char *path, struct err *e);

/* The first two lines, as printf's format, with the recording's size. */
#define FD_CONTEXT_HEAD "perfkit-context 1\nof %lld\n"

/* NULL is accepted. */
void fd_context_free(struct fd_context *c);

/* The kind of a process's descriptor; ARG_FD if unknown. */
uint8_t fd_context_kind(const struct fd_context *c, int32_t pid, uint64_t fd);

/* A file's path; a socket's peer, "10.0.0.5:5432", with its process if that is on the same
 * host, "127.0.0.1:5432 (postgres)". NULL if unknown, or if all snapshots are late. Lives as
 * long as the context. */
const char *fd_context_target(const struct fd_context *c, int32_t pid, uint64_t fd);

/* Other facts about the host. */
const struct fact_table *fd_context_facts(const struct fd_context *c);

#endif
