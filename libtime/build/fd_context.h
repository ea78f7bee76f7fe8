/*
 * fd_context.h - which file descriptor of which process is what, as the recorded host knew it
 * before and after the recording: a text that `perfkit record` writes beside the recording
 * (perf.data.context) and bundles carry.
 *
 *	perfkit-context 1
 *	of BYTES			the size of the recording that it belongs to
 *	snapshot			one or more follow, each with all of these lines
 *	late SECONDS			it was taken that long after the recording had ended
 *	order big			where addresses of sockets have that byte order
 *	process PID NETNS [COMM]	its network namespace, net:[4026531840], and its name
 *	fd N TARGET			of that process: what /proc/PID/fd/N links to
 *	tfd EPFD N			of that process: epoll EPFD watches N
 *					(/proc/PID/fdinfo/EPFD)
 *	net NETNS tcp|tcp6|udp|udp6|unix
 *					the lines below, up to the next of these words
 *	<TAB>...			are of /proc/net/FILE of that namespace, as it prints
 *					them (net/ipv4/tcp_ipv4.c get_tcp4_sock,
 *					net/unix/af_unix.c unix_seq_show), of those sockets
 *					that an fd line names or that listen
 *	fact ...			of the host: fact_table.h
 *
 * A TCP socket whose local port is listened on in its namespace was accepted; one whose port is
 * not was connected by this process. A Unix socket with a path of its own was accepted; of one
 * without it is not known. Where snapshots differ, nothing is said about a descriptor.
 *
 * Where all snapshots are late (pack --script), a descriptor number may have meant another
 * file during the recording. Accepted and listening sockets then count as sockets of an unknown
 * kind, so that no wait is hidden on such evidence. Connected sockets are believed, for they
 * make a wait visible.
 */
#ifndef LIBTIME_BUILD_FD_CONTEXT_H
#define LIBTIME_BUILD_FD_CONTEXT_H

#include "libtime/build/fact_table.h"

struct fd_context;

enum { FD_CONTEXT_MAX = 64 << 20 }; /* bytes; longer ones are refused */

/* From memory; `name` is for messages. Lines that are not understood are skipped. ERR_FORMAT
 * (no such text), ERR_LIMIT, ERR_NOMEM. */
int fd_context_parse(struct fd_context **out, const char *text, size_t n, const char *name,
		     struct err *e);

/* That of the recording `path`, in PATH.context; *out is NULL where there is none, or one of
 * another recording. Else as above, ERR_IO. */
int fd_context_load(struct fd_context **out, const char *path, struct err *e);

/* NULL is accepted. */
void fd_context_free(struct fd_context *c);

/* What a descriptor of a process is: ARG_FD where it is not known. */
uint8_t fd_context_kind(const struct fd_context *c, int32_t pid, uint64_t fd);

/* A file's path; a socket's peer, "10.0.0.5:5432", with the process where that is on the same
 * host, "127.0.0.1:5432 (postgres)". NULL where it is not
 * known, or all snapshots are late. Life: the context's. */
const char *fd_context_target(const struct fd_context *c, int32_t pid, uint64_t fd);

/* What else the host knew. */
const struct fact_table *fd_context_facts(const struct fd_context *c);

#endif
