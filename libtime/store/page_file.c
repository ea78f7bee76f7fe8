#include "libtime/store/page_file.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/os/endian.h"
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEADER = 100,
	AT_PAGE_SIZE = 16, /* of the header; big-endian, 1 for PAGE_MAX */
	AT_RESERVED = 20,  /* bytes at the end of each page that are not SQLite's */
	AT_PAGES = 28,
	PAGE_MAX = 65536,
	LOCK_BYTE = 1 << 30, /* the page it lies on is nobody's */
	GATHERED = 1 << 20,  /* bytes of a write */
};

struct page_file {
	const char *name; /* for messages */
	int fd;
	size_t page_size;
	uint32_t pages;     /* the number of the last one */
	uint32_t in_file;   /* of the last one that is not in `gathered` */
	uint8_t gathered[]; /* the pages behind it */
};

static int write_all(struct page_file *f, const uint8_t *p, size_t n, off_t at, struct err *e)
{
	while (n) {
		ssize_t done = pwrite(f->fd, p, n, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys(e, "%s: cannot write the store", f->name);
		p += done;
		n -= (size_t)done;
		at += done;
	}
	return 0;
}

static int flush(struct page_file *f, struct err *e)
{
	size_t n = (size_t)(f->pages - f->in_file) * f->page_size;
	int r = write_all(f, f->gathered, n, (off_t)f->in_file * (off_t)f->page_size, e);
	f->in_file = f->pages;
	return r;
}

static int check_header(struct page_file *f, off_t size, struct err *e)
{
	uint8_t head[HEADER];
	if (pread(f->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return err_set(e, ERR_FORMAT, "%s: no database", f->name);
	f->page_size = be16toh(load_u16(head + AT_PAGE_SIZE, 0));
	if (f->page_size == 1)
		f->page_size = PAGE_MAX;
	f->pages = be32toh(load_u32(head + AT_PAGES, 0));
	f->in_file = f->pages;
	if (f->page_size < 512 || f->page_size & (f->page_size - 1) || head[AT_RESERVED] ||
	    (uint64_t)size != (uint64_t)f->pages * f->page_size)
		return err_set(e, ERR_FORMAT, "%s: a database of %u pages of %zu bytes in %lld",
			       f->name, f->pages, f->page_size, (long long)size);
	return 0;
}

int page_file_open(struct page_file **out, const char *path, const struct stat *is,
		   const char *name, struct err *e)
{
	struct stat st;
	*out = NULL;
	struct page_file *f = mem_alloc(sizeof(*f) + GATHERED);
	if (!f)
		return err_nomem(e);
	*f = (struct page_file){
		.name = name,
		.fd = regular_open_as(AT_FDCWD, path, REGULAR_NO_LINK, O_RDWR, is)};
	int r = f->fd < 0 || fstat(f->fd, &st) ? err_sys(e, "%s: cannot write the store", name)
					       : check_header(f, st.st_size, e);
	if (r)
		page_file_abort(f);
	else
		*out = f;
	return r;
}

size_t page_file_page_size(const struct page_file *f)
{
	return f->page_size;
}

int page_file_add(struct page_file *f, const void *page, uint32_t *number, struct err *e)
{
	size_t gathered = (size_t)(f->pages - f->in_file) * f->page_size;
	int skip = f->pages == LOCK_BYTE / f->page_size, r = 0;
	if (f->pages >= UINT32_MAX - 2)
		return err_set(e, ERR_LIMIT, "%s: the store has no page numbers left", f->name);
	if (skip || gathered + f->page_size > GATHERED) {
		r = flush(f, e);
		gathered = 0;
	}
	if (skip) {
		f->pages++;
		f->in_file++;
	}
	memcpy(f->gathered + gathered, page, f->page_size);
	*number = ++f->pages;
	return r;
}

int page_file_replace(struct page_file *f, const void *page, uint32_t number, struct err *e)
{
	int r = flush(f, e);
	return r ? r
		 : write_all(f, page, f->page_size, (off_t)(number - 1) * (off_t)f->page_size,
			     e);
}

int page_file_close(struct page_file *f, struct err *e)
{
	if (!f)
		return 0;
	uint32_t pages = htobe32(f->pages);
	int r = flush(f, e);
	if (!r)
		r = write_all(f, (const uint8_t *)&pages, sizeof(pages), AT_PAGES, e);
	page_file_abort(f);
	return r;
}

void page_file_abort(struct page_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	mem_free(f);
}
