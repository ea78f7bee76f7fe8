/* libsym: files by names that others chose: which links are followed, and what root may hand on. */
#include "tests/lib/unit.h"

#include "libsym/elf/claimed_file.h"
#include "libsym/elf/file_at.h"
#include "tests/lib/temptree.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_text(const char *path, mode_t mode)
{
	put(path, "text", 4);
	assert_int_equal(chmod(in_root(path), mode), 0);
}

static void open_it(const char *path, unsigned flags, struct claimed *c)
{
	struct err e = {0};
	if (claimed_open("", flags, in_root(path), c, &e))
		fail_msg("%s", e.msg);
}

/* A mapping and stat(2) name a file of btrfs or of an overlay by different devices. */
static void a_mapped_file_is_known_by_its_mapping(void **state)
{
	(void)state;
	struct claimed c;
	struct file_id mapped, other;
	if (geteuid())
		skip();
	put_text("/a", 0600);
	put_text("/b", 0600);
	assert_true(file_at(in_root("/a"), &mapped, NULL) &&
		    file_at(in_root("/b"), &other, NULL));
	struct claim k = {.mapped = &mapped}, wrong = {.mapped = &other}, none = {.trusted = 0};
	open_it("/a", 0, &c);
	assert_int_equal(claimed_check(&c, &k, "x", NULL), 0);
	assert_int_equal(claimed_check(&c, &wrong, "x", NULL), ERR_REFUSED);
	assert_int_equal(claimed_check(&c, &none, "x", NULL), ERR_REFUSED);
	k.written_ns = 1; /* the file came later */
	assert_int_equal(claimed_check(&c, &k, "x", NULL), ERR_REFUSED);
	close(c.fd);
}

/* The same on an overlay of two file systems, in a mount namespace of the test's own. */
static void an_overlays_file_is_known_by_its_mapping(void **state)
{
	(void)state;
	char how[512];
	struct claimed c;
	struct file_id mapped;
	put_text("/low/a", 0600);
	mkdir(in_root("/all"), 0700);
	mkdir(in_root("/up"), 0700);
	snprintf(how, sizeof(how), "lowerdir=%s,upperdir=%s,workdir=%s", in_root("/low"),
		 in_root("/up/over"), in_root("/up/work"));
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", in_root("/up"), "tmpfs", 0, NULL) ||
	    mkdir(in_root("/up/over"), 0700) || mkdir(in_root("/up/work"), 0700) ||
	    mount("overlay", in_root("/all"), "overlay", 0, how))
		skip();
	int found = file_at(in_root("/all/a"), &mapped, NULL);
	struct claim k = {.mapped = &mapped};
	open_it("/all/a", 0, &c);
	int is = !claimed_check(&c, &k, "x", NULL);
	close(c.fd);
	umount2(in_root("/all"), MNT_DETACH);
	umount2(in_root("/up"), MNT_DETACH);
	assert_true(found && is);
}

/* debugfs mounts tracefs at "tracing" when somebody walks there. What lies in it is no regular file
 * here, but a walk that does not mount it would find nothing. */
static void a_walk_mounts_an_automount(void **state)
{
	(void)state;
	struct claimed c;
	struct stat st;
	put_text("/debug/tracing/README", 0644);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("debugfs", in_root("/debug"), "debugfs", 0, NULL))
		skip();
	int rc = claimed_open("", 0, in_root("/debug/tracing/README"), &c, NULL);
	int there = !stat(in_root("/debug/tracing/README"), &st);
	umount2(in_root("/debug"), MNT_DETACH);
	if (!there)
		skip();
	assert_int_equal(rc, ERR_UNSUPPORTED);
}

/* Root hands on what everybody may read, or what is proved to have been used. */
static void root_needs_a_proof(void **state)
{
	(void)state;
	struct claimed c;
	struct file_id mapped;
	if (geteuid())
		skip();
	assert_int_equal(chmod(in_root(""), 0755), 0);
	put_text("/all", 0644);
	put_text("/own", 0600);
	put_text("/run", 0711);
	const struct claim none = {0}, trusted = {.trusted = 1}, owner = {.has_owner = 1},
			   other = {.has_owner = 1, .owner = 1}, id = {.id_read = 1};
	struct claim seen = {.mapped = &mapped};
	open_it("/all", 0, &c);
	assert_int_equal(claimed_check(&c, &none, "x", NULL), 0);
	close(c.fd);
	open_it("/own", 0, &c);
	assert_int_equal(claimed_check(&c, &none, "x", NULL), ERR_REFUSED);
	assert_int_equal(claimed_check(&c, &other, "x", NULL), ERR_REFUSED);
	assert_int_equal(claimed_check(&c, &owner, "x", NULL), 0);
	assert_int_equal(claimed_check(&c, &trusted, "x", NULL), 0);
	assert_int_equal(claimed_check(&c, &id, "x", NULL), 0);
	assert_true(file_at(in_root("/own"), &mapped, NULL));
	assert_int_equal(claimed_check(&c, &seen, "x", NULL), 0);
	close(c.fd);
	assert_int_equal(link(in_root("/own"), in_root("/second")), 0);
	open_it("/own", 0, &c);
	assert_int_equal(claimed_check(&c, &owner, "x", NULL), ERR_REFUSED);
	close(c.fd);
	open_it("/run", 0, &c);
	assert_true(file_at(in_root("/run"), &mapped, NULL));
	assert_int_equal(claimed_check(&c, &seen, "x", NULL), ERR_REFUSED);
	close(c.fd);
}

/* A link LINK → /file in a folder of this owner and mode; its own owner. 0 if it is followed. */
static int opened_by(uid_t caller, unsigned flags, uid_t folder, mode_t mode, uid_t link)
{
	char dir[512];
	struct claimed c;
	struct err e = {0};
	uid_t was = geteuid();
	snprintf(dir, sizeof(dir), "%s", in_root("/folder"));
	mkdir(dir, 0755);
	unlink(in_root("/folder/link"));
	assert_int_equal(symlink(in_root("/file"), in_root("/folder/link")), 0);
	assert_int_equal(lchown(in_root("/folder/link"), link, link), 0);
	assert_int_equal(chown(dir, folder, folder), 0);
	assert_int_equal(chmod(dir, mode), 0);
	assert_int_equal(seteuid(caller), 0);
	int rc = claimed_open("", flags, in_root("/folder/link"), &c, &e);
	assert_int_equal(seteuid(was), 0);
	if (!rc)
		close(c.fd);
	return rc;
}

static void links_are_followed_that_cannot_be_strangers(void **state)
{
	(void)state;
	enum { ME = 1000, OTHER = 2000, NOBODY = 65534 };
	static const struct {
		uid_t caller;
		unsigned flags;
		uid_t folder;
		mode_t mode;
		uid_t link;
		int rc;
	} cases[] = {
		{0, 0, 0, 0755, 0, 0},
		{0, 0, 0, 0755, OTHER, ERR_REFUSED},
		{0, 0, OTHER, 0755, 0, ERR_REFUSED},
		{0, 0, 0, 01777, 0, ERR_REFUSED},
		{0, CLAIMED_FOR_SELF, OTHER, 0755, OTHER, ERR_REFUSED}, /* root could do harm */
		{0, CLAIMED_INSIDE, OTHER, 0777, OTHER, 0},
		/* for oneself: as open(2) */
		{ME, CLAIMED_FOR_SELF, ME, 0775, ME, 0},
		{ME, CLAIMED_FOR_SELF, OTHER, 0755, OTHER, 0},
		{ME, CLAIMED_FOR_SELF, NOBODY, 0755, NOBODY, 0},
		{NOBODY, CLAIMED_FOR_SELF, ME, 0755, ME, 0},
		{ME, CLAIMED_FOR_SELF, 0, 01777, ME, 0},
		{ME, CLAIMED_FOR_SELF, OTHER, 01777, OTHER, 0},
		{ME, CLAIMED_FOR_SELF, 0, 01777, OTHER, ERR_REFUSED},
		/* for others */
		{ME, 0, ME, 0755, ME, 0},
		{ME, 0, ME, 0775, ME, ERR_REFUSED},
		{ME, 0, OTHER, 0755, OTHER, ERR_REFUSED},
	};
	if (geteuid())
		skip();
	assert_int_equal(chmod(in_root(""), 0755), 0);
	put_text("/file", 0644);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int rc = opened_by(cases[i].caller, cases[i].flags, cases[i].folder,
				   cases[i].mode, cases[i].link);
		if (rc != cases[i].rc)
			fail_msg("case %zu: %d", i, rc);
	}
}

/* Whoever runs this: links of one's own, in a folder that one's group may write. */
static void own_links_are_followed_for_oneself(void **state)
{
	(void)state;
	struct claimed c;
	put_text("/private/file", 0600);
	assert_int_equal(symlink("file", in_root("/private/link")), 0);
	assert_int_equal(chmod(in_root("/private"), 0775), 0);
	open_it("/private/link", CLAIMED_FOR_SELF, &c);
	close(c.fd);
}

/* 1 when `path` in the folder is the file that has this text. */
static int has(const char *folder, unsigned flags, const char *path, const char *text)
{
	char got[16] = "";
	struct claimed c;
	if (claimed_open(folder, flags, path, &c, NULL))
		return 0;
	ssize_t n = read(c.fd, got, sizeof(got) - 1);
	close(c.fd);
	return n > 0 && !strcmp(got, text);
}

/* As open(2) does, and openat2(2) with RESOLVE_IN_ROOT. */
static void a_parent_is_that_of_the_folder_a_link_led_to(void **state)
{
	(void)state;
	char target[512];
	put("/a/x", "ax", 2);
	put("/b/x", "bx", 2);
	put("/b/deep/y", "y", 1);
	put("/x", "x", 1);
	assert_int_equal(symlink("../b/deep", in_root("/a/link")), 0);
	snprintf(target, sizeof(target), "%s", in_root("/b/x"));
	assert_int_equal(symlink(target, in_root("/a/absolute")), 0);
	assert_int_equal(symlink("/x", in_root("/a/inside")), 0);
	for (unsigned flags = 0; flags <= CLAIMED_INSIDE; flags++) {
		assert_true(has(root, flags, "/a/link/../x", "bx"));
		assert_true(has(root, flags, "a/../a/./x", "ax"));
		assert_true(has(root, flags, "a/link/y", "y"));
		assert_false(has(root, flags, "a/none/../x", "ax"));
		assert_false(has(root, flags, "a/x/../x", "ax"));
	}
	/* above the folder, and out of it */
	assert_true(has(in_root("/a"), 0, "../b/x", "bx"));
	assert_true(has(in_root("/b/deep"), 0, "../../a/x", "ax"));
	assert_true(has(in_root("/a"), 0, "absolute", "bx"));
	assert_false(has(in_root("/a"), CLAIMED_INSIDE, "../b/x", "bx"));
	assert_true(has(in_root("/a"), CLAIMED_INSIDE, "../x", "ax"));
	assert_true(has(in_root("/a"), CLAIMED_INSIDE, "inside", "ax"));
	assert_false(has(in_root("/a"), CLAIMED_INSIDE, "absolute", "bx"));
}

/* Whatever lies below a private home, everybody may not read. */
static void what_is_shown_depends_on_the_folders_above_the_root(void **state)
{
	(void)state;
	static const struct {
		mode_t top, home, src, file;
		int shown;
	} cases[] = {
		{0755, 0755, 0755, 0644, 1}, {0755, 0711, 0711, 0644, 1},
		{0700, 0755, 0755, 0644, 0}, {0755, 0700, 0755, 0644, 0},
		{0755, 0755, 0700, 0644, 0}, {0755, 0755, 0755, 0640, 0},
	};
	struct claimed c;
	put("/private/src/a/x.c", "text", 4);
	assert_int_equal(chmod(in_root("/private/src/a"), 0755), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(chmod(in_root(""), cases[i].top), 0);
		assert_int_equal(chmod(in_root("/private"), cases[i].home), 0);
		assert_int_equal(chmod(in_root("/private/src"), cases[i].src), 0);
		assert_int_equal(chmod(in_root("/private/src/a/x.c"), cases[i].file), 0);
		for (unsigned flags = 0; flags <= CLAIMED_INSIDE; flags++) {
			assert_int_equal(
				claimed_open(in_root("/private/src"), flags, "a/x.c", &c, NULL),
				0);
			if (c.shown != cases[i].shown)
				fail_msg("case %zu: %d", i, c.shown);
			close(c.fd);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(a_mapped_file_is_known_by_its_mapping),
		ON_A_TREE(root_needs_a_proof),
		ON_A_TREE(links_are_followed_that_cannot_be_strangers),
		ON_A_TREE(own_links_are_followed_for_oneself),
		ON_A_TREE(a_parent_is_that_of_the_folder_a_link_led_to),
		ON_A_TREE(what_is_shown_depends_on_the_folders_above_the_root),
		/* these leave the namespace */
		ON_A_TREE(an_overlays_file_is_known_by_its_mapping),
		ON_A_TREE(a_walk_mounts_an_automount),
	};
	return cmocka_run_group_tests_name("libsym claimed", tests, NULL, NULL);
}
