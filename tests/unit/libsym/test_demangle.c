/* demangle: as perf 6.1 prints names. The expected texts were read off perf script 6.1 (a
 * recording whose samples sit on a program with these symbols) and c++filt -p. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libsym/name/demangle.h"

static void expect(const char *mangled, int flags, const char *want)
{
	struct buf b = {0};
	int rc = demangle(mangled, flags, &b);
	if (want)
		assert_string_equal(buf_cstr(&b), want);
	assert_int_equal(rc, want != NULL);
	assert_true(want || !b.n);
	buf_release(&b);
}

static void cxx_comes_without_parameters(void **state)
{
	(void)state;
	expect("_ZN3foo3barEi", 0, "foo::bar");
	expect("_ZN3foo3barEi", DEMANGLE_PARAMS, "foo::bar(int)");
	expect("_ZNKSt8functionIFviEEclEi", 0, "std::function<void (int)>::operator()");
	expect("_ZN1SD0Ev", 0, "S::~S");
	expect("_Z3fooILi3EEiv", 0, "foo<3>");
	expect("_ZZ4mainENKUlvE_clEv", 0, "main::{lambda()#1}::operator()");
}

static void suffixes_follow_libiberty(void **state)
{
	(void)state;
	expect("_ZN3foo3barEi.cold", 0, "foo::bar");
	expect("_ZN3foo3barEi.isra.0", DEMANGLE_PARAMS, "foo::bar(int) [clone .isra.0]");
	expect("_ZNSs4nposE@@GLIBCXX_3.4", 0, "std::string::npos");
	expect("_ZN3foo3barEi@plt", 0, "foo::bar@plt");
	expect("puts@plt", 0, NULL);
}

static void rust_loses_its_hash(void **state)
{
	(void)state;
	expect("_ZN4core3fmt9Formatter3pad17h1234567890abcdefE", 0,
	       "core::fmt::Formatter::pad");
	expect("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3"
	       "bar17h930b740aa94f1d3aE",
	       0, "<Test + 'static as foo::Bar<Test>>::bar");
	expect("_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new", 0,
	       "<std::path::PathBuf>::new");
	expect("_RNvC6_123foo3bar", 0, "123foo::bar");
}

/* As rustc 1.63 and newer write them: letters beyond ASCII are escaped, or (older) as they are. */
static void rust_names_may_have_any_letters(void **state)
{
	(void)state;
	expect("_ZN48_$LT$u..$uc4$$LT$u64$GT$$u20$as$u20$u..$udc$$GT$10_$ufc$"
	       "bung17hc37d48221dc0cb6bE",
	       0, "<u::\u00c4<u64> as u::\u00dc>::\u00fcbung");
	expect("_ZN1u7stra\xc3\x9f"
	       "e5gr\xc3\xb6"
	       "e17h0123456789abcdefE",
	       0, "u::stra\u00dfe::gr\u00f6e");
	expect("_ZN1u7$u4e2d$17h0123456789abcdefE.llvm.123", 0, "u::\u4e2d");
}

static void d_names_are_demangled(void **state)
{
	(void)state;
	expect("_D8demangle4testFaZv", 0, "demangle.test");
	expect("_D8demangle4testFaZv", DEMANGLE_PARAMS, "demangle.test(char)");
	expect("_D3std5stdio__T7writelnTAyaZQnFNfQjZv", 0,
	       "std.stdio.writeln!(immutable(char)[]).writeln");
	expect("_Dmain", 0, "D main");
	expect("_D", 0, NULL);
	expect("_Dear_reader", 0, NULL);
	expect("_D9999999999x", 0, NULL);
}

/* Written by Nim 1.6 and 2.2 */
static void nim_names_are_taken_apart_in_nim_programs(void **state)
{
	(void)state;
	expect("fibo__fib_2", DEMANGLE_NIM, "fib.fibo");
	expect("go__fib_u11", DEMANGLE_NIM, "fib.go");
	expect("plusstar___fib_5", DEMANGLE_NIM, "fib.+*");
	expect("X5BX5Deq___fib_u5", DEMANGLE_NIM, "fib.[]=");
	expect("valueeq___fib_5", DEMANGLE_NIM, "fib.valueeq_");
	expect("fibo__fib_2", 0, NULL);
	expect("NimMain", DEMANGLE_NIM, NULL);
	expect("Marker_tyRef__dJLgQyYmAVYQWHiOSBBTyA", DEMANGLE_NIM, NULL);
	expect("__fib_2", DEMANGLE_NIM, NULL);
	expect("a__", DEMANGLE_NIM, NULL);
	expect("a__b_", DEMANGLE_NIM, NULL);
	expect("_ZN3foo3barEi", DEMANGLE_NIM, "foo::bar");
}

static void plain_names_are_left_alone(void **state)
{
	(void)state;
	static const char *const names[] = {
		"",       "main", "_start", "_Z",  "__libc_start_main",
		"Runner", "Lib",  "camel",  "_R?", "L;("};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(names[i], 0, NULL);
}

static void ocaml_and_java_read_well(void **state)
{
	(void)state;
	expect("camlStdlib__array__map_154", 0, "Stdlib.array.map_154");
	expect("camlStdlib__anon_fn$5bstdlib$2eml$3a334$2c0$2d$2d54$5d_1453", 0,
	       "Stdlib.anon_fn[stdlib.ml:334,0--54]_1453");
	expect("camlFoo__a$zz$", 0, "Foo.a$zz$"); /* no code: as it stands */
	expect("Ljava/lang/StringLatin1;equals([B[B)Z", 0,
	       "java.lang.StringLatin1.equals(byte[], byte[])");
	expect("Ljava/util/zip/ZipUtils;CENSIZ([BI)J", 0,
	       "java.util.zip.ZipUtils.CENSIZ(byte[], int)");
	expect("Ljava/lang/Object;<init>()V", 0, "java.lang.Object<init>()");
}

/* A sequence number of the Itanium (base 36, "S0_") or Rust v0 (base 62, "B0_") grammar. */
static void add_reference(struct buf *b, char kind, unsigned n, unsigned base)
{
	static const char upper[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char lower[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *digit = base == 36 ? upper : lower;
	buf_char(b, kind);
	if (n && (n - 1) / base)
		buf_char(b, digit[(n - 1) / base]);
	if (n)
		buf_char(b, digit[(n - 1) % base]);
	buf_char(b, '_');
}

/* Every level names the one before twice: 2^35 characters if nobody stopped. c++filt of
 * binutils 2.40 does not come back from either. */
static void exploding_names_are_given_up(void **state)
{
	(void)state;
	struct buf cxx = {0}, rust = {0}, out = {0};
	buf_str(&cxx, "_Z1fI1AIiiE");
	buf_str(&rust, "_RINvC1a1f");
	unsigned before = (unsigned)rust.n - 2;
	buf_str(&rust, "TllE");
	for (unsigned i = 1; i <= 35; i++) {
		buf_str(&cxx, "S_I");
		add_reference(&cxx, 'S', i, 36);
		add_reference(&cxx, 'S', i, 36);
		buf_char(&cxx, 'E');
		unsigned here = (unsigned)rust.n - 2;
		buf_char(&rust, 'T');
		add_reference(&rust, 'B', before, 62);
		add_reference(&rust, 'B', before, 62);
		buf_char(&rust, 'E');
		before = here;
	}
	buf_str(&cxx, "EvT_");
	buf_char(&rust, 'E');
	assert_int_equal(demangle(buf_cstr(&cxx), 0, &out), 0);
	assert_int_equal(demangle(buf_cstr(&rust), 0, &out), 0);
	assert_int_equal(out.n, 0);
	buf_clear(&cxx);
	for (int i = 0; i <= DEMANGLE_INPUT_MAX; i++)
		buf_char(&cxx, 'Z');
	assert_int_equal(demangle(buf_cstr(&cxx), 0, &out), 0);
	buf_release(&cxx);
	buf_release(&rust);
	buf_release(&out);
}

static void any_cut_of_a_name_is_safe(void **state)
{
	(void)state;
	static const char name[] = "_ZSt16__introsort_loopIN9__gnu_cxx17__normal_"
				   "iteratorIPSsSt6vectorISsSaISsEEEElNS0_"
				   "5__ops15_Iter_less_iterEEvT_S9_T0_T1_";
	struct buf out = {0};
	for (size_t i = 0; i + 1 < sizeof(name); i++) {
		char copy[sizeof(name)];
		for (int flip = 0; flip < 3; flip++) {
			memcpy(copy, name, sizeof(name));
			if (flip)
				copy[i] = (char)(copy[i] ^ (flip == 1 ? 1 : 0x10));
			else
				copy[i] = '\0';
			assert_true(demangle(copy, 0, &out) >= 0);
			buf_clear(&out);
		}
	}
	buf_release(&out);
}

static void a_full_buffer_is_an_error(void **state)
{
	(void)state;
	struct buf out = {.max = 4};
	assert_int_equal(demangle("_ZN3foo3barEi", 0, &out), ERR_LIMIT);
	buf_release(&out);
	out = (struct buf){0};
	mem_fail_after(0);
	assert_int_equal(demangle("_ZN3foo3barEi", 0, &out), ERR_NOMEM);
	mem_fail_after(-1);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cxx_comes_without_parameters),
		cmocka_unit_test(suffixes_follow_libiberty),
		cmocka_unit_test(rust_loses_its_hash),
		cmocka_unit_test(rust_names_may_have_any_letters),
		cmocka_unit_test(d_names_are_demangled),
		cmocka_unit_test(nim_names_are_taken_apart_in_nim_programs),
		cmocka_unit_test(plain_names_are_left_alone),
		cmocka_unit_test(ocaml_and_java_read_well),
		cmocka_unit_test(exploding_names_are_given_up),
		cmocka_unit_test(any_cut_of_a_name_is_safe),
		cmocka_unit_test(a_full_buffer_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
