#ifdef __linux__
#include "base/os/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* include/uapi/linux/landlock.h, which older headers lack. The numbers are the same on all
 * architectures. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_PATH_BENEATH = 1 };

/* Older kernels accept a longer one whose end is 0. */
struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define REMOVE_DIR (1ull << 4)
#define CHANGE_DIR (0x1ff0ull) /* REMOVE_DIR to MAKE_SYM */
#define REFER (1ull << 13)
#define TRUNCATE (1ull << 14)
#define IOCTL_DEV (1ull << 15)
#define BIND_TCP (1ull << 0)
#define CONNECT_TCP (1ull << 1)
#define ABSTRACT_UNIX_SOCKET (1ull << 0)
#define SIGNAL (1ull << 1)

/* What is forbidden from an ABI level on, unless the verb has the ability. What an older level
 * cannot forbid syscall_filter.c does, as far as it needs no path. */
static const struct {
	int abi;
	unsigned unless;
	struct ruleset_attr rights;
} levels[] = {
	{1, 0, {WRITE_FILE | CHANGE_DIR, 0, 0}},
	{1, MAY_READ, {READ_FILE | READ_DIR, 0, 0}},
	{1, MAY_EXECUTE, {EXECUTE, 0, 0}},
	{2, 0, {REFER, 0, 0}},
	{3, 0, {TRUNCATE, 0, 0}},
	{4, MAY_CONNECT, {0, BIND_TCP | CONNECT_TCP, 0}},
	{5, 0, {IOCTL_DEV, 0, 0}},
	{6, 0, {0, 0, ABSTRACT_UNIX_SOCKET | SIGNAL}},
};

static int is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

int landlock_abi(void)
{
	long abi = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
	return abi < 0 ? 0 : (int)abi;
}

int landlock_begin(struct landlock *s, unsigned may)
{
	struct ruleset_attr a = {0};
	int abi = landlock_abi();
	*s = (struct landlock){.rules = -1};
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (levels[i].abi <= abi && !(levels[i].unless & may)) {
			a.fs |= levels[i].rights.fs;
			a.net |= levels[i].rights.net;
			a.scoped |= levels[i].rights.scoped;
		}
	s->reads = a.fs & (READ_FILE | READ_DIR);
	s->writes = a.fs & (WRITE_FILE | CHANGE_DIR | REFER | TRUNCATE);
	if (a.fs)
		s->rules = (int)syscall(CREATE_RULESET, &a, sizeof(a), 0);
	if (a.fs && s->rules < 0 && is_shortage(errno))
		s->shortage = errno;
	return s->rules >= 0;
}

static void allow(struct landlock *s, const char *path, uint64_t rights)
{
	struct stat st;
	int fd = rights ? open(path, O_PATH | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &st)) {
		if (rights && is_shortage(errno))
			s->shortage = errno;
		if (fd >= 0)
			close(fd);
		return;
	}
	struct path_beneath rule = {.allowed_access = rights, .parent_fd = fd};
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= WRITE_FILE | READ_FILE | TRUNCATE;
	if (rule.allowed_access && syscall(ADD_RULE, s->rules, RULE_PATH_BENEATH, &rule, 0) &&
	    is_shortage(errno))
		s->shortage = errno;
	close(fd);
}

void landlock_allow_writing(struct landlock *s, const char *path)
{
	allow(s, path, s->writes | s->reads);
}

void landlock_allow_reading(struct landlock *s, const char *path)
{
	allow(s, path, s->reads);
}

void landlock_allow_rmdir(struct landlock *s, const char *path)
{
	allow(s, path, s->writes & REMOVE_DIR);
}

int landlock_enter(struct landlock *s)
{
	int in = !s->shortage && !syscall(RESTRICT_SELF, s->rules, 0);
	close(s->rules);
	return in;
}
#endif
