#include "libtime/build/fd_context.h"
#include "base/text/buf.h"
#include "base/mem.h"
#include "libsym/elf/read_file.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC "perfkit-context 1\n"

enum {
	LINE_MAX_BYTES = 1024, /* longer lines are skipped */
	TCP_CLOSE = 7,         /* include/net/tcp_states.h */
	TCP_LISTEN = 10,
	UNIX_STREAM = 1, /* include/linux/net.h */
	UNIX_SEQPACKET = 5,
	UNIX_LISTENS = 0x10000, /* __SO_ACCEPTCON */
};

enum net { NET_NONE, NET_TCP, NET_UDP, NET_UNIX };

struct socket {
	uint64_t inode;
	uint64_t place;              /* namespace and port, or path */
	uint32_t space, local, peer; /* names ids; 0: not an internet socket, or without peer */
	uint8_t net, kind;
};

struct descriptor {
	uint64_t key;             /* pid << 32 | number */
	uint64_t inode;           /* of a socket */
	uint32_t process, target; /* names ids: its process; a file's path */
	uint8_t kind;
};

struct watch { /* an epoll's */
	uint64_t epoll, key;
};

struct fd_context {
	struct u64map kind; /* pid << 32 | number → snapshots that agree << 8 | enum wait_arg */
	struct u64map target; /* pid << 32 | number → names id; 0: snapshots differ */
	struct strtab names;  /* namespaces, addresses, processes and paths */
	struct fact_table facts;
	uint32_t snapshots, early; /* with descriptors; early: not late */
	unsigned number;           /* of the current one */
	int big;                   /* addresses are big endian */
	/* of the current snapshot */
	VEC(struct socket) sockets;
	VEC(struct descriptor) fds;
	VEC(struct watch) watches;
	struct u64map listens;  /* namespace << 32 | port, or names id of a Unix path */
	struct u64map by_inode; /* → index of sockets */
	uint64_t pid;           /* current process; 0: none */
	uint32_t process;       /* names id: its name */
	uint32_t space;         /* names id: namespace of the current net lines */
	enum net net;
	int late;
};

/* --- lines -------------------------------------------------------------------------------- */

/* "0100007F:1F90" */
static int port_of(const char *address, uint64_t *port)
{
	const char *colon = strchr(address, ':');
	return colon && sscanf(colon + 1, "%4" SCNx64, port) == 1;
}

static uint64_t place_of_port(const struct fd_context *c, uint64_t port)
{
	return (uint64_t)c->space << 32 | port;
}

/* "0100007F:1F90" as "127.0.0.1:8080"; the words are in the host's byte order. */
static int intern_address(struct fd_context *c, const char *hex, uint64_t port, uint32_t *id)
{
	char text[INET6_ADDRSTRLEN + 16], ip[INET6_ADDRSTRLEN];
	size_t words = strcspn(hex, ":") / 8, mapped;
	uint32_t part, v[4];
	*id = 0;
	if (words != 1 && words != 4)
		return 0;
	for (size_t i = 0; i < words; i++) {
		if (sscanf(hex + 8 * i, "%8" SCNx32, &part) != 1)
			return 0;
		v[i] = c->big ? htonl(part) : htonl(__builtin_bswap32(part));
	}
	mapped = words == 4 && !v[0] && !v[1] && v[2] == htonl(0xffff) ? 3 : 0;
	int v4 = words == 1 || mapped;
	if (!inet_ntop(v4 ? AF_INET : AF_INET6, v + mapped, ip, sizeof(ip)))
		return 0;
	snprintf(text, sizeof(text), v4 ? "%s:%u" : "[%s]:%u", ip, (unsigned)port);
	return strtab_intern(&c->names, text, id);
}

/* A line of /proc/net/tcp, udp and the like. */
static int parse_inet(struct fd_context *c, const char *line)
{
	char local[64], remote[64];
	unsigned state;
	uint64_t port, far_port, inode;
	if (sscanf(line, " %*u: %63s %63s %x %*s %*s %*s %*u %*u %" SCNu64, local, remote,
		   &state, &inode) != 4 ||
	    !port_of(local, &port) || !port_of(remote, &far_port) || !inode)
		return 0;
	struct socket s = {.inode = inode,
			   .net = (uint8_t)c->net,
			   .place = place_of_port(c, port),
			   .space = c->space,
			   .kind = ARG_SOCKET};
	if (c->net == NET_TCP && state == TCP_LISTEN) {
		s.kind = ARG_LISTENING;
		if (u64map_put(&c->listens, s.place, 1))
			return ERR_NOMEM;
	} else if (far_port && state != TCP_CLOSE) {
		s.kind = ARG_CONNECTED; /* until all listeners are known */
	}
	if (far_port && (intern_address(c, local, port, &s.local) ||
			 intern_address(c, remote, far_port, &s.peer)))
		return ERR_NOMEM;
	return vec_push(&c->sockets, s);
}

/* A line of /proc/net/unix. A path is the one where the socket was accepted. */
static int parse_unix(struct fd_context *c, const char *line)
{
	char path[LINE_MAX_BYTES] = "";
	unsigned flags, type, state;
	uint64_t inode;
	uint32_t id;
	if (sscanf(line, " %*s %*s %*s %x %x %x %" SCNu64 " %1023[^\n]", &flags, &type, &state,
		   &inode, path) < 4)
		return 0;
	struct socket s = {.inode = inode, .net = NET_UNIX, .kind = ARG_SOCKET};
	if (*path && (type == UNIX_STREAM || type == UNIX_SEQPACKET)) {
		if (strtab_intern(&c->names, path, &id))
			return ERR_NOMEM;
		s.place = (uint64_t)c->space << 32 | id;
		s.kind = flags & UNIX_LISTENS ? ARG_LISTENING : ARG_ACCEPTED;
		/* keys of ports are small; those of paths are inverted */
		if (flags & UNIX_LISTENS && u64map_put(&c->listens, ~s.place, 1))
			return ERR_NOMEM;
	}
	return vec_push(&c->sockets, s);
}

static uint8_t kind_of_target(const char *target)
{
	static const struct {
		const char *prefix;
		uint8_t kind;
	} map[] = {{"pipe:", ARG_PIPE},
		   {"anon_inode:[eventfd]", ARG_EVENTFD},
		   {"anon_inode:[timerfd]", ARG_TIMERFD},
		   {"anon_inode:[eventpoll]", ARG_EPOLL},
		   {"/", ARG_FILE}};
	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++)
		if (!strncmp(target, map[i].prefix, strlen(map[i].prefix)))
			return map[i].kind;
	return ARG_FD;
}

static int parse_fd(struct fd_context *c, const char *line)
{
	uint32_t number;
	char target[LINE_MAX_BYTES] = "";
	if (!c->pid || sscanf(line, "fd %" SCNu32 " %1023[^\n]", &number, target) != 2)
		return 0;
	struct descriptor d = {.key = c->pid << 32 | number,
			       .process = c->process,
			       .kind = kind_of_target(target)};
	if (sscanf(target, "socket:[%" SCNu64 "]", &d.inode) == 1)
		d.kind = ARG_SOCKET;
	if (*target == '/' && target[1] && strtab_intern(&c->names, target, &d.target))
		return ERR_NOMEM;
	return vec_push(&c->fds, d);
}

static int parse_watch(struct fd_context *c, const char *line)
{
	uint32_t epoll, number;
	if (!c->pid || sscanf(line, "tfd %" SCNu32 " %" SCNu32, &epoll, &number) != 2)
		return 0;
	struct watch w = {c->pid << 32 | epoll, c->pid << 32 | number};
	return vec_push(&c->watches, w);
}

static int parse_process(struct fd_context *c, const char *line)
{
	uint32_t pid;
	char comm[64] = "";
	int n = sscanf(line, "process %" SCNu32 " %*s %63[^\n]", &pid, comm);
	c->pid = n >= 1 && pid <= INT32_MAX ? pid : 0;
	return strtab_intern(&c->names, comm, &c->process);
}

static int parse_net(struct fd_context *c, const char *line)
{
	char space[64], file[8];
	c->net = NET_NONE;
	if (sscanf(line, "net %63s %7s", space, file) != 2)
		return 0;
	c->net = !strncmp(file, "tcp", 3)   ? NET_TCP
		 : !strncmp(file, "udp", 3) ? NET_UDP
		 : !strcmp(file, "unix")    ? NET_UNIX
					    : NET_NONE;
	return strtab_intern(&c->names, space, &c->space);
}

/* --- a snapshot --------------------------------------------------------------------------- */

/* A socket's kind, now that all listeners are known. */
static uint8_t kind_of_socket(const struct fd_context *c, const struct socket *s)
{
	uint32_t yes;
	if (s->net == NET_TCP && s->kind == ARG_CONNECTED &&
	    u64map_get(&c->listens, s->place, &yes))
		return ARG_ACCEPTED;
	if (s->kind == ARG_ACCEPTED && !u64map_get(&c->listens, ~s->place, &yes))
		return ARG_SOCKET;
	return s->kind;
}

static int is_epoll(uint8_t kind)
{
	return kind == ARG_EPOLL || kind == ARG_EPOLL_ACCEPTED || kind == ARG_EPOLL_CONNECTED;
}

/* The kind of a descriptor that two snapshots have. */
static uint8_t joined(uint8_t a, uint8_t b)
{
	if (a == b)
		return a;
	if (!is_epoll(a) || !is_epoll(b))
		return ARG_FD;
	return a == ARG_EPOLL_CONNECTED || b == ARG_EPOLL_CONNECTED ? ARG_EPOLL_CONNECTED
								    : ARG_EPOLL;
}

/* Join a descriptor's kind in this snapshot with that of the snapshots before. */
static int note(struct fd_context *c, uint64_t key, uint8_t kind)
{
	uint32_t v = 0;
	if (!u64map_get(&c->kind, key, &v))
		v = kind;
	else if (v >> 8 > c->snapshots)
		return 0; /* twice in one snapshot */
	else
		v = (v & ~0xffu) | joined((uint8_t)v, kind);
	return u64map_put(&c->kind, key, (v & 0xff) | ((v >> 8) + 1) << 8);
}

/* An epoll's kind, from the sockets that it watches. */
static int resolve_epolls(struct fd_context *c, struct u64map *now)
{
	enum { UNKNOWN = 1, SERVER = 2, CLIENT = 4 };
	struct u64map seen = {0};
	int r = 0;
	for (size_t i = 0; !r && i < c->watches.n; i++) {
		const struct watch *w = &c->watches.v[i];
		uint32_t kind = ARG_FD, bits = 0;
		u64map_get(now, w->key, &kind);
		u64map_get(&seen, w->epoll, &bits);
		bits |= kind == ARG_CONNECTED                           ? CLIENT
			: kind == ARG_ACCEPTED || kind == ARG_LISTENING ? SERVER
			: kind == ARG_SOCKET || kind == ARG_FD          ? UNKNOWN
									: 0;
		r = u64map_put(&seen, w->epoll, bits);
	}
	for (size_t i = 0; !r && i < c->fds.n; i++) {
		uint32_t bits = 0;
		if (c->fds.v[i].kind != ARG_EPOLL || !u64map_get(&seen, c->fds.v[i].key, &bits))
			continue;
		c->fds.v[i].kind = bits & CLIENT    ? ARG_EPOLL_CONNECTED
				   : bits == SERVER ? ARG_EPOLL_ACCEPTED
						    : ARG_EPOLL;
	}
	u64map_release(&seen);
	return r;
}

/* Index the sockets by inode. Where rows of one socket differ nothing is known of it: the kernel
 * prints a Unix path as it is, so that its owner may write a row of another socket in it. */
static int index_sockets(struct fd_context *c)
{
	uint32_t at;
	int r = 0;
	for (uint32_t i = 0; !r && i < c->sockets.n; i++) {
		const struct socket *s = &c->sockets.v[i];
		if (!u64map_get(&c->by_inode, s->inode, &at)) {
			r = u64map_put(&c->by_inode, s->inode, i);
			continue;
		}
		struct socket *first = &c->sockets.v[at];
		if (first->net != s->net || first->kind != s->kind || first->place != s->place)
			first->kind = ARG_SOCKET;
	}
	return r;
}

static int resolve_sockets(struct fd_context *c, struct u64map *now)
{
	uint32_t at;
	int r = index_sockets(c);
	for (size_t i = 0; !r && i < c->fds.n; i++) {
		struct descriptor *d = &c->fds.v[i];
		if (d->kind == ARG_SOCKET && u64map_get(&c->by_inode, d->inode, &at))
			d->kind = kind_of_socket(c, &c->sockets.v[at]);
		r = u64map_put(now, d->key, d->kind);
	}
	return r;
}

/* --- what is at the other end ------------------------------------------------------------- */

/* The process of a socket, by inode; and the socket at an address, by its two ends. */
struct ends {
	struct u64map owner, socket;
};

static int find_ends(const struct fd_context *c, struct ends *x)
{
	int r = 0;
	for (size_t i = 0; !r && i < c->fds.n; i++)
		if (c->fds.v[i].inode)
			r = u64map_put(&x->owner, c->fds.v[i].inode, c->fds.v[i].process);
	for (uint32_t i = 0; !r && i < c->sockets.n; i++) {
		const struct socket *s = &c->sockets.v[i];
		if (s->peer)
			r = u64map_put(&x->socket, (uint64_t)s->local << 32 | s->peer, i);
	}
	return r;
}

/* "127.0.0.1:5432 (postgres)" */
static int name_peer(struct fd_context *c, const struct ends *x, const struct socket *s,
		     uint32_t *id)
{
	uint32_t other, process = 0;
	char text[256];
	*id = s->peer;
	if (!u64map_get(&x->socket, (uint64_t)s->peer << 32 | s->local, &other) ||
	    c->sockets.v[other].space != s->space ||
	    !u64map_get(&x->owner, c->sockets.v[other].inode, &process) || !process)
		return 0;
	snprintf(text, sizeof(text), "%s (%s)", strtab_get(&c->names, s->peer),
		 strtab_get(&c->names, process));
	return strtab_intern(&c->names, text, id);
}

static int note_target(struct fd_context *c, uint64_t key, uint32_t id)
{
	uint32_t before;
	if (u64map_get(&c->target, key, &before) && before != id)
		id = 0;
	return u64map_put(&c->target, key, id);
}

static int resolve_targets(struct fd_context *c)
{
	struct ends x = {{0}, {0}};
	uint32_t at;
	int r = find_ends(c, &x);
	for (size_t i = 0; !r && i < c->fds.n; i++) {
		const struct descriptor *d = &c->fds.v[i];
		uint32_t id = d->target;
		if (d->inode && u64map_get(&c->by_inode, d->inode, &at) &&
		    c->sockets.v[at].peer)
			r = name_peer(c, &x, &c->sockets.v[at], &id);
		if (!r && id)
			r = note_target(c, d->key, id);
	}
	u64map_release(&x.owner);
	u64map_release(&x.socket);
	return r;
}

static int end_snapshot(struct fd_context *c)
{
	struct u64map now = {0};
	int r = resolve_sockets(c, &now);
	if (!r)
		r = resolve_epolls(c, &now);
	if (!r)
		r = resolve_targets(c);
	for (size_t i = 0; !r && i < c->fds.n; i++)
		r = note(c, c->fds.v[i].key, c->fds.v[i].kind);
	c->snapshots += c->fds.n != 0;
	c->early += c->fds.n != 0 && !c->late;
	c->late = 0;
	c->sockets.n = c->fds.n = c->watches.n = 0;
	c->pid = 0;
	c->net = NET_NONE;
	u64map_release(&c->listens);
	u64map_release(&c->by_inode);
	u64map_release(&now);
	return r;
}

static int parse_line(struct fd_context *c, const char *line)
{
	if (*line == '\t')
		return c->net == NET_UNIX   ? parse_unix(c, line)
		       : c->net != NET_NONE ? parse_inet(c, line)
					    : 0;
	c->net = NET_NONE;
	if (!strncmp(line, "fd ", 3))
		return parse_fd(c, line);
	if (!strncmp(line, "tfd ", 4))
		return parse_watch(c, line);
	if (!strncmp(line, "process ", 8))
		return parse_process(c, line);
	if (!strncmp(line, "net ", 4))
		return parse_net(c, line);
	c->late |= !strncmp(line, "late ", 5);
	if (!strncmp(line, "fact ", 5))
		return fact_table_add(&c->facts, line + 5, c->number);
	if (!strcmp(line, "order big"))
		c->big = 1;
	if (strcmp(line, "snapshot") != 0)
		return 0;
	c->number++;
	return end_snapshot(c);
}

/* --- the text ------------------------------------------------------------------------- */

static int parse_text(struct fd_context *c, const char *text, size_t n)
{
	char line[LINE_MAX_BYTES];
	int r = 0;
	for (const char *p = text, *end = text + n; !r && p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);
		if (len < sizeof(line)) {
			memcpy(line, p, len);
			line[len] = '\0';
			r = parse_line(c, line);
		}
		p += len + 1;
	}
	return r ? r : end_snapshot(c);
}

int fd_context_parse(struct fd_context **out, const char *text, size_t n, const char *name,
		     struct err *e)
{
	size_t magic = sizeof(MAGIC) - 1;
	*out = NULL;
	if (n < magic || memcmp(text, MAGIC, magic) != 0)
		return err_set(e, ERR_FORMAT, "%s: does not begin with \"perfkit-context 1\"",
			       name);
	if (n > FD_CONTEXT_MAX)
		return err_set(e, ERR_LIMIT, "%s: larger than 64 MiB", name);
	struct fd_context *c = mem_zalloc(1, sizeof(*c));
	if (!c || parse_text(c, text + magic, n - magic)) {
		fd_context_free(c);
		return err_nomem(e);
	}
	*out = c;
	return 0;
}

int fd_context_is_of(const char *text, const char *recording)
{
	struct stat st;
	long long size;
	return sscanf(text, MAGIC "of %lld\n", &size) == 1 && !stat(recording, &st) &&
	       S_ISREG(st.st_mode) && st.st_size == size;
}

/* Append the text of PATH.context; nothing if there is none, or another recording's. */
static int context_read(struct buf *out, const char *path, struct err *e)
{
	struct buf name = {0};
	char *text = NULL;
	size_t n;
	buf_fmt(&name, "%s.context", path);
	int r = buf_failed(&name) ? err_nomem(e)
				  : read_file(buf_cstr(&name), FD_CONTEXT_MAX, &text, &n, e);
	if (!r && fd_context_is_of(text, path))
		buf_add(out, text, n);
	if (!r && buf_failed(out))
		r = err_nomem(e);
	mem_free(text);
	buf_release(&name);
	return r == ERR_NOTFOUND ? 0 : r;
}

int fd_context_load(struct fd_context **out, const char *path, struct err *e)
{
	struct buf text = {0};
	*out = NULL;
	int r = context_read(&text, path, e);
	if (!r && text.n && strstr(buf_cstr(&text), "\nsnapshot"))
		r = fd_context_parse(out, text.v, text.n, path, e);
	buf_release(&text);
	return r;
}

void fd_context_free(struct fd_context *c)
{
	if (!c)
		return;
	u64map_release(&c->kind);
	u64map_release(&c->target);
	fact_table_release(&c->facts);
	strtab_release(&c->names);
	vec_release(&c->sockets);
	vec_release(&c->fds);
	vec_release(&c->watches);
	u64map_release(&c->listens);
	u64map_release(&c->by_inode);
	mem_free(c);
}

/* The kind of a descriptor in a late snapshot: nothing that would hide a wait. */
static uint8_t in_doubt(uint8_t kind)
{
	switch (kind) {
	case ARG_ACCEPTED:
	case ARG_LISTENING:
		return ARG_SOCKET;
	case ARG_EPOLL_ACCEPTED:
		return ARG_EPOLL;
	default:
		return kind;
	}
}

uint8_t fd_context_kind(const struct fd_context *c, int32_t pid, uint64_t fd)
{
	uint32_t v;
	if (pid <= 0 || fd > INT32_MAX ||
	    !u64map_get(&c->kind, (uint64_t)(uint32_t)pid << 32 | fd, &v) ||
	    v >> 8 != c->snapshots)
		return ARG_FD;
	return c->early ? (uint8_t)v : in_doubt((uint8_t)v);
}

const char *fd_context_target(const struct fd_context *c, int32_t pid, uint64_t fd)
{
	uint32_t id;
	if (!c->early || fd_context_kind(c, pid, fd) == ARG_FD ||
	    !u64map_get(&c->target, (uint64_t)(uint32_t)pid << 32 | fd, &id) || !id)
		return NULL;
	return strtab_get(&c->names, id);
}

const struct fact_table *fd_context_facts(const struct fd_context *c)
{
	return &c->facts;
}
