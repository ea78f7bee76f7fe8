/* perf_package: what installs perf, by os-release. */
#include "libtime/record/perf_package.h"
#include "tests/lib/unit.h"

static void each_distribution_has_its_command(void **state)
{
	static const struct {
		const char *os_release, *command;
	} rows[] = {
		{"PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n", "apt install linux-perf"},
		{"ID=ubuntu\nID_LIKE=debian\n", "apt install linux-tools-6.8.0-31"},
		{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n",
		 "apt install linux-tools-6.8.0-31"},
		{"ID=fedora", "dnf install perf"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install perf"},
		{"ID=opensuse-leap\nID_LIKE=\"suse opensuse\"\n", "zypper install perf"},
		{"VARIANT_ID=debian\nID=void\n",
		 "the package is called perf, linux-perf or linux-tools"},
		{"ID=archaic\n", "the package is called perf, linux-perf or linux-tools"},
		{"", "the package is called perf, linux-perf or linux-tools"},
		{"ID", "the package is called perf, linux-perf or linux-tools"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf b = {0};
		perf_package(&b, rows[i].os_release, "6.8.0-31");
		assert_string_equal(buf_cstr(&b), rows[i].command);
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_distribution_has_its_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
