#include "libsym/elf/file_at.h"
#include "base/os/os.h"
#include "base/regular.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The device and inode of the mapping at `at`, in /proc/self/maps. */
static int find_mapping(uintptr_t at, struct file_id *out)
{
	char line[512];
	int found = 0, begins = 1;
	FILE *f = fopen("/proc/self/maps", "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		uintptr_t start;
		found = begins &&
			sscanf(line,
			       "%" SCNxPTR "-%*x %*s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64,
			       &start, &out->dev_major, &out->dev_minor, &out->ino) == 4 &&
			start == at;
		begins = strchr(line, '\n') != NULL;
	}
	if (f)
		fclose(f);
	return found && out->ino;
}

int file_at_fd(int fd, struct file_id *out, int64_t *born_ns)
{
	struct stat st;
	int found = 0;
	*out = (struct file_id){0};
	if (fstat(fd, &st) || st.st_size <= 0)
		return 0;
	void *p = os_map(fd, 1);
	if (p) {
		found = find_mapping((uintptr_t)p, out);
		os_unmap(p, 1);
	}
	out->generation = os_generation(fd);
	if (born_ns)
		*born_ns = os_born_ns(fd);
	return found;
}

int file_at(const char *path, struct file_id *out, int64_t *born_ns)
{
	struct stat st;
	int fd = regular_open(AT_FDCWD, path, 0, &st);
	*out = (struct file_id){0};
	if (fd < 0)
		return 0;
	int found = file_at_fd(fd, out, born_ns);
	close(fd);
	return found;
}

int file_has_two_identities(const char *release)
{
	unsigned major, minor;
	return release && sscanf(release, "%u.%u", &major, &minor) == 2 && major == 6 &&
	       minor >= 7 && minor <= 17;
}

enum file_match file_compare(const struct file_id *mapped, const struct file_id *here)
{
	struct utsname u;
	if (file_id_fits(mapped, here))
		return FILE_SAME;
	if (!mapped->dev_major == !here->dev_major || uname(&u))
		return FILE_OTHER;
	return file_has_two_identities(u.release) ? FILE_UNSURE : FILE_OTHER;
}
