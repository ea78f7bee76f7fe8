/* tidy and simplify: symbols as people and folded stacks want them. */
#include "tests/lib/torture.h"

#include "libsym/name/name_scan.h"
#include "libsym/name/simplify.h"
#include "libsym/name/tidy.h"

#include <stdlib.h>

/* --- tidy ------------------------------------------------------------------------------- */

/*
 * `strict` is what stackcollapse-perf.pl prints for the symbol (checked by running it); NULL
 * in `right` means "the same". An empty text stands for "no frame".
 */
static const struct tidy_case {
	const char *name, *strict, *right;
	unsigned flags;
} tidy_cases[] = {
	{"main", "main", NULL},
	{"[libc.so.6]", "[libc.so.6]", NULL},
	{"[foo->bar.so]", "[foo->bar.so]", NULL, TIDY_NOSPLIT},
	{"", "", NULL},
	{"foo(int, char const*)", "foo", NULL},
	{"a;b", "a:b", NULL},
	{"foo\"bar'baz", "foobarbaz", NULL},
	/* C++ as perf prints it: without argument lists, but lambdas keep theirs */
	{"app::Worker::work(int)::{lambda(int)#1}::operator()", "app::Worker::work",
	 "app::Worker::work::{lambda(int)#1}::operator()"},
	{"operator()", "operator", "operator()"},
	{"std::function<void (int)>::operator()(int) const", "std::function<void ",
	 "std::function<void (int)>::operator()"},
	{"std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke",
	 "std::_Function_handler<void ",
	 "std::_Function_handler<void (), main::{lambda()#1}>"
	 "::_M_invoke"},
	{"std::unique_ptr<T, std::default_delete<T> >::operator->() const",
	 "std::unique_ptr<T, std::default_delete<T> >::operator;_[i]",
	 "std::unique_ptr<T, std::default_delete<T> >::operator->"},
	{"std::unique_ptr<T>::operator->", "std::unique_ptr<T>::operator",
	 "std::unique_ptr<T>::operator->"},
	{"A::operator->*(int)", "A::operator;*_[i]", "A::operator->*"},
	{"operator<<(std::ostream&, B const&)", "operator<<", NULL},
	{"bool operator< <int>(A<int> const&, A<int> const&)", "bool operator< <int>", NULL},
	{"A::operator<=>(A const&) const", "A::operator<=>", NULL},
	{"A::operator bool() const", "A::operator bool", NULL},
	{"A<char>::operator void*() const", "A<char>::operator void*", NULL},
	{"operator new(unsigned long)", "operator new", NULL},
	{"A::operator[](int) const &", "A::operator[]", NULL},
	{"operator\"\"_km(long double)", "operator_km", NULL},
	{"(anonymous namespace)::f(int)", "", "(anonymous namespace)::f"},
	{"ns::(anonymous namespace)::Foo::bar(int)", "ns::(anonymous namespace)::Foo::bar",
	 NULL},
	{"ns::(anonymous class)::operator()(int) const",
	 "ns::", "ns::(anonymous class)::operator()"},
	{"void (anonymous namespace)::f<int>(int)", "void (anonymous namespace)::f<int>", NULL},
	{"decltype(auto) f<int>(int)", "decltype", "decltype(auto) f<int>"},
	{"decltype ((x)+(y)) g<int, long>(int, long)", "decltype ",
	 "decltype ((x)+(y)) g<int, long>"},
	{"f(int) const::{lambda(auto:1)#2}::operator()<A>(A) const", "f",
	 "f::{lambda(auto:1)#2}::operator()<A>"},
	{"f(int) [clone .cold]", "f", NULL},
	{"f [clone .isra.0]", "f [clone .isra.0]", NULL},
	{"~Foo()", "~Foo", NULL},
	{"Foo::~Foo()", "Foo::~Foo", NULL},
	/* clang's names for local entities */
	{"f(int)::'lambda'(int)::operator()(int) const", "f", "f::lambda::operator()"},
	/* Rust */
	{"<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt", NULL},
	{"<(A, B) as core::ops::Fn>::call", "<", "<(A, B) as core::ops::Fn>::call"},
	{"core::ops::function::FnOnce::call_once{{vtable.shim}}",
	 "core::ops::function::FnOnce::call_once{{vtable.shim}}", NULL},
	{"core::ptr::drop_in_place<alloc::boxed::Box<dyn core::ops::Fn() -> u8>>",
	 "core::ptr::drop_in_place<alloc::boxed::Box<dyn core::ops::Fn; u8>>_[i]",
	 "core::ptr::drop_in_place<alloc::boxed::Box<dyn core::ops::Fn() -> u8>>"},
	{"std::rt::lang_start::{{closure}}", "std::rt::lang_start::{{closure}}", NULL},
	/* Go */
	{"net/http.(*Client).Do", "net/http.(*Client).Do", NULL},
	{"runtime.(*mcache).nextFree", "runtime.(*mcache).nextFree", NULL},
	{"main.(*T).Run.func1", "main.(*T).Run.func1", NULL},
	{"main.(*T)", "main.", "main.(*T)"},
	{"main.main.func1", "main.main.func1", NULL},
	/* Java, from perf maps */
	{"Lorg/mozilla/javascript/ContextFactory;::call",
	 "org/mozilla/javascript/ContextFactory:::call", NULL, TIDY_JAVA},
	{"Lorg/mozilla/javascript/MemberBox;.<init>(Ljava/lang/reflect/Method;)V",
	 "org/mozilla/javascript/MemberBox:.<init>", NULL, TIDY_JAVA},
	{"Lorg/a/B;::m", "Lorg/a/B:::m", NULL},
	{"Lock::lock", "Lock::lock", NULL, TIDY_JAVA},
	{"LA/B;::a->LA/C;::b->LA/D;::c", "A/B:::a;A/C:::b_[i];A/D:::c_[i]", NULL, TIDY_JAVA},
	{"a->b_[i]->c", "a;b_[i];c_[i]", NULL},
	{"a->", "a", NULL},
	{"->b", ";b_[i]", NULL},
	{"a->->", "a", NULL},
	{"->", "", NULL},
	/* node */
	{"LazyCompile:*fib /srv/fib.js:3:13", "LazyCompile:*fib /srv/fib.js:3:13", NULL},
	{"JS:~(anonymous) /srv/a.js:1:2", "JS:~", "JS:~(anonymous) /srv/a.js:1:2"},
	{"RegExp:[&<>\\\"\\']", "RegExp:[&<>\\\\]", NULL},
	{"RegExp:^(a|b)", "RegExp:^", "RegExp:^(a|b)"},
	{"py::f:/srv/a (copy).py", "py::f:/srv/a ", "py::f:/srv/a (copy).py"},
	/* process names, and brackets that do not pair */
	{"(httpd)", "", NULL},
	{"foo(bar", "foo", NULL},
	{"foo<bar(", "foo<bar", NULL},
	{"foo)bar", "foo)bar", NULL},
	{"a<b", "a<b", NULL},
};

static void check_tidy(const char *how, const char *name, const char *want, size_t frames,
		       struct buf *got)
{
	if (strcmp(buf_cstr(got), want) != 0 || (frames == 0) != (*want == 0))
		fail_msg("%s of '%s' is '%s' (%zu frames), not '%s'", how, name, buf_cstr(got),
			 frames, want);
	buf_release(got);
}

static void tidy_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tidy_cases) / sizeof(tidy_cases[0]); i++) {
		const struct tidy_case *c = &tidy_cases[i];
		size_t n = strlen(c->name);
		const char *right = c->right ? c->right : c->strict;
		struct buf b = {0};
		size_t frames = tidy_name(&b, c->name, n, c->flags, NULL);
		check_tidy("tidy_name", c->name, right, frames, &b);
	}
}

static void tidy_marks_the_first_frame_only(void **state)
{
	(void)state;
	struct buf b = {0};
	assert_int_equal(tidy_name(&b, "a->b", 4, 0, "_[k]"), 2);
	assert_string_equal(buf_cstr(&b), "a_[k];b_[i]");
	buf_clear(&b);
	assert_int_equal(tidy_name(&b, "a_[j]", 5, 0, "_[j]"), 1);
	assert_string_equal(buf_cstr(&b), "a_[j]");
	buf_release(&b);
}

/* --- simplify --------------------------------------------------------------------------- */

static const struct simplify_case {
	unsigned flags;
	const char *name, *want;
} simplify_cases[] = {
	{SIMPLIFY_ALL, "main", "main"},
	{SIMPLIFY_ALL, "std::vector<int, std::allocator<int> >::push_back",
	 "std::vector<…>::push_back"},
	{SIMPLIFY_DEFAULTS, "std::vector<int, std::allocator<int> >::push_back",
	 "std::vector<int>::push_back"},
	{SIMPLIFY_DEFAULTS,
	 "std::map<int, std::vector<char, std::allocator<char> >, std::less<int>, "
	 "std::allocator<std::pair<int const, std::vector<char, std::allocator<char> > > > "
	 ">::at",
	 "std::map<int, std::vector<char>>::at"},
	{SIMPLIFY_ALL,
	 "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
	 ">::append",
	 "std::string::append"},
	{SIMPLIFY_NAMESPACES, "std::__cxx11::list<int>::clear", "std::list<int>::clear"},
	{SIMPLIFY_NAMESPACES, "std::__1::vector<int>::clear", "std::vector<int>::clear"},
	{SIMPLIFY_NAMESPACES, "absl::lts_20230802::Mutex::Lock()", "absl::Mutex::Lock()"},
	{SIMPLIFY_NAMESPACES, "fmt::v10::vformat", "fmt::vformat"},
	{SIMPLIFY_NAMESPACES, "ranges::v3::all_fn::operator()", "ranges::all_fn::operator()"},
	{SIMPLIFY_NAMESPACES, "nlohmann::json_abi_v3_11_2::detail::parse",
	 "nlohmann::detail::parse"},
	{SIMPLIFY_NAMESPACES, "api::v1::Get", "api::v1::Get"},
	{SIMPLIFY_NAMESPACES, "fmt::view::get, absl::lts_::f", "fmt::view::get, absl::lts_::f"},
	{SIMPLIFY_NAMESPACES, "std::__n4861::coroutine_handle<T>::resume",
	 "std::coroutine_handle<T>::resume"},
	{SIMPLIFY_NAMESPACES, "std::filesystem::__cxx11::path::stem[abi:cxx11]() const",
	 "std::filesystem::path::stem() const"},
	{SIMPLIFY_ALL,
	 "std::hash<std::__cxx11::basic_string<char, std::char_traits<char>, "
	 "std::allocator<char> > >::operator()",
	 "std::hash<…>::operator()"},
	{SIMPLIFY_ALL,
	 "foo(std::__cxx11::basic_string<char, std::char_traits<char>, "
	 "std::allocator<char> > const&, std::vector<int> const&)",
	 "foo(std::string const&, std::vector<…> const&)"},
	{SIMPLIFY_ALL, "bool operator< <int>(A<int> const&, A<int> const&)",
	 "bool operator< <…>(A<…> const&, A<…> const&)"},
	{SIMPLIFY_ALL, "operator<<int>(A<int>)", "operator<<…>(A<…>)"},
	{SIMPLIFY_ALL, "std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
	 "std::operator<< <…>(std::ostream&, char const*)"},
	{SIMPLIFY_ALL, "A<1>::operator<=>(A<1> const&) const",
	 "A<…>::operator<=>(A<…> const&) const"},
	{SIMPLIFY_ALL, "std::unique_ptr<T, std::default_delete<T> >::operator->() const",
	 "std::unique_ptr<…>::operator->() const"},
	{SIMPLIFY_ALL, "A<&B::operator-> >::f", "A<…>::f"},
	{SIMPLIFY_ALL, "A<(1 > 0)>::f", "A<…>::f"},
	{SIMPLIFY_ALL, "f<int>(int)::{lambda(int)#1}::operator()(int) const",
	 "f<…>(int)::{lambda#1}::operator()(int) const"},
	{SIMPLIFY_ALL, "(anonymous namespace)::f<int>", "(anonymous namespace)::f<…>"},
	{SIMPLIFY_ALL, "std::function<void (int)>::operator()(int) const",
	 "std::function<…>::operator()(int) const"},
	/* Rust */
	{SIMPLIFY_ALL, "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
	 "<alloc::vec::Vec<…> as core::ops::Drop>::drop"},
	{SIMPLIFY_ALL, "core::ptr::drop_in_place::<alloc::string::String>",
	 "core::ptr::drop_in_place::<…>"},
	{SIMPLIFY_ALL, "core::slice::<impl [T]>::iter", "core::slice::<impl [T]>::iter"},
	{SIMPLIFY_ALL, "<<A<u8> as B>::C as D>::f", "<<A<…> as B>::C as D>::f"},
	{SIMPLIFY_ALL, "core::ptr::drop_in_place<dyn core::ops::Fn() -> u8>",
	 "core::ptr::drop_in_place<…>"},
	/* Go */
	{SIMPLIFY_ALL, "net/http.(*Client).Do", "net/http.(*Client).Do"},
	{SIMPLIFY_ALL, "main.Map[go.shape.int,go.shape.string]", "main.Map[…]"},
	{SIMPLIFY_ALL, "main.Map[...]", "main.Map[...]"},
	/* what does not pair stays */
	{SIMPLIFY_ALL, "a<b", "a<b"},
	{SIMPLIFY_ALL, "RegExp:(<", "RegExp:(<"},
	/* constructors */
	{SIMPLIFY_CONSTRUCTORS, "Foo::Foo(Foo const&)", "Foo::copy_construct"},
	{SIMPLIFY_CONSTRUCTORS, "Foo::Foo(Foo&&)", "Foo::move_construct"},
	{SIMPLIFY_CONSTRUCTORS, "Foo::Foo(int)", "Foo::Foo(int)"},
	{SIMPLIFY_CONSTRUCTORS, "Foo::Foo()", "Foo::Foo()"},
	{SIMPLIFY_CONSTRUCTORS, "Foo::bar(Foo const&)", "Foo::bar(Foo const&)"},
	{SIMPLIFY_CONSTRUCTORS, "Foo(Foo const&)", "Foo(Foo const&)"},
	{SIMPLIFY_CONSTRUCTORS, "ns::Foo::Foo(ns::Foo&&)", "ns::Foo::move_construct"},
	{SIMPLIFY_CONSTRUCTORS, "ns::Foo::Foo(other::Foo&&)", "ns::Foo::Foo(other::Foo&&)"},
	{SIMPLIFY_CONSTRUCTORS | SIMPLIFY_ALL,
	 "std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> "
	 "> "
	 "const&)",
	 "std::vector<…>::copy_construct"},
	{SIMPLIFY_CONSTRUCTORS, "A<B>::A(A<C>&&)", "A<B>::A(A<C>&&)"},
};

static void simplify_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(simplify_cases) / sizeof(simplify_cases[0]); i++) {
		const struct simplify_case *c = &simplify_cases[i];
		struct buf b = {0};
		simplify(&b, c->name, strlen(c->name), c->flags);
		if (strcmp(buf_cstr(&b), c->want) != 0)
			fail_msg("'%s' became '%s', not '%s'", c->name, buf_cstr(&b), c->want);
		buf_release(&b);
	}
}

/* A name is whole, or its buffer says that it is not. */
static void without_memory_no_name_is_cut_in_silence(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(simplify_cases) / sizeof(simplify_cases[0]); i++) {
		const struct simplify_case *c = &simplify_cases[i];
		for (int once = 0; once < 2; once++) {
			struct torture t = {.once = once};
			while (!t.whole) {
				struct buf b = {0};
				torture_on(&t);
				simplify(&b, c->name, strlen(c->name), c->flags);
				int r = buf_failed(&b);
				torture_off(&t, r);
				if (!r)
					assert_string_equal(buf_cstr(&b), c->want);
				buf_release(&b);
			}
		}
	}
	for (size_t i = 0; i < sizeof(tidy_cases) / sizeof(tidy_cases[0]); i++) {
		const struct tidy_case *c = &tidy_cases[i];
		struct torture t = {.once = 1};
		while (!t.whole) {
			struct buf b = {0};
			torture_on(&t);
			size_t n = tidy_name(&b, c->name, strlen(c->name), c->flags, NULL);
			int r = buf_failed(&b);
			torture_off(&t, r);
			if (!r)
				check_tidy("tidy_name", c->name,
					   c->right ? c->right : c->strict, n, &b);
			else
				buf_release(&b);
		}
	}
}

/* --- anything goes in ------------------------------------------------------------------- */

static void any_bytes_are_survived(void **state)
{
	(void)state;
	static const char *const parts[] = {
		"operator",
		"<",
		">",
		"(",
		")",
		"->",
		"::",
		"{",
		"}",
		"[",
		"]",
		"a",
		".",
		" ",
		";",
		"'",
		"(anonymous namespace)",
		"<<",
		"std::allocator<",
		",",
		"{lambda(",
		"L/",
	};
	unsigned seed = 1;
	for (int i = 0; i < 20000; i++) {
		struct buf in = {0}, out = {0};
		for (int k = 0; k < i % 40; k++) {
			seed = seed * 1103515245 + 12345;
			buf_str(&in, parts[(seed >> 16) % (sizeof(parts) / sizeof(parts[0]))]);
		}
		/* An exact copy, so that a read past the end is seen. */
		char *exact = malloc(in.n + !in.n);
		assert_non_null(exact);
		memcpy(exact, in.v ? in.v : "", in.n);
		tidy_name(&out, exact, in.n, (unsigned)i & 3, "_[j]");
		simplify(&out, exact, in.n, 15);
		assert_int_equal(buf_failed(&out), 0);
		free(exact);
		buf_release(&in);
		buf_release(&out);
	}
}

static void groups_close_at_their_own_bracket(void **state)
{
	(void)state;
	assert_int_equal(name_group("<a>b", 4, 0), 3);
	assert_int_equal(name_group("<a->b>", 6, 0), 6);
	assert_int_equal(name_group("(a<b)c", 6, 0), 5);
	assert_int_equal(name_group("<&A::operator-> >x", 18, 0), 17);
	assert_int_equal(name_group("<a", 2, 0), 0);
	assert_int_equal(name_group("[a)", 3, 0), 0);
	assert_int_equal(name_operator("operator<<int>", 14, 0), 9);
	assert_int_equal(name_operator("operators", 9, 0), 0);
	assert_int_equal(name_operator("myoperator<", 11, 2), 0);
}

/* --- narrow places ------------------------------------------------------------------------ */

static void the_own_name_stays(void **state)
{
	static const char eigen[] =
		"Eigen::internal::generic_product_impl<Eigen::Matrix<double, -1, -1, 0, -1, "
		"-1>, "
		"Eigen::Matrix<double, -1, -1, 0, -1, -1>, Eigen::DenseShape, "
		"Eigen::DenseShape, 8>::scaleAndAddTo<Eigen::Matrix<double, -1, -1, 0, -1, -1> "
		">";
	static const struct {
		const char *name;
		size_t room;
		const char *fit;
	} v[] = {
		{"main", 4, "main"},
		{"handle_request", 8, "handle_…"},
		{"handle_request", 0, ""},
		{"OrderBook<std::pair<int, long>, Policy>::insert", 20, "OrderBook<…>::insert"},
		{"OrderBook<std::pair<int, long>, Policy>::insert", 19, "OrderBook<…::insert"},
		{"exchange::OrderBook::insert", 20, "exchange::O…::insert"},
		{"exchange::OrderBook::insert", 10, "exc…insert"},
		{"exchange::OrderBook::insert", 7, "…insert"},
		{"exchange::OrderBook::insert", 6, "inser…"},
		{eigen, 60, "Eigen::internal::generic_product_impl<…>::scaleAndAddTo<…>"},
		{"serve(int)::{lambda(int)#1}::operator()", 30,
		 "serve(int)::{lambda#1}::opera…"},
		{"<core::iter::Map<I, F> as core::iter::Iterator>::fold", 30,
		 "<core::iter::Map<…> as …::fold"},
		{"github.com/org/app/server.(*Handler).ServeHTTP", 24,
		 "github.com/org…ServeHTTP"},
		{"com.example.orders.Matcher.match", 20, "com.example.or…match"},
		{"parse_everything.constprop.0", 20, "parse_everything.co…"},
		{"A<B<C<int...[70 bytes, 0123456789abcdef]..., D> >::insert<E<int> >", 12,
		 "insert<…>"},
		{"naïve::größer::grün", 12, "naïve…::grün"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct buf out = {0};
		name_fit(&out, v[i].name, strlen(v[i].name), v[i].room);
		assert_string_equal(buf_cstr(&out), v[i].fit);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_own_name_stays),
		cmocka_unit_test(tidy_names),
		cmocka_unit_test(tidy_marks_the_first_frame_only),
		cmocka_unit_test(simplify_table),
		cmocka_unit_test(without_memory_no_name_is_cut_in_silence),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(groups_close_at_their_own_bracket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
