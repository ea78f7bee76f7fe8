/*
 * simplify.h - shorter display names, so that equal frames merge and labels fit.
 *
 * Works on demangled text (C++, Rust, Go), with or without argument lists; the caller keeps the
 * full name (for tooltips). Brackets are matched by name_scan.h: operators, lambdas,
 * `(anonymous namespace)`, `<T as Trait>::f` and `(*T).M` stay.
 *
 *	std::vector<int, std::allocator<int> >::at       std::vector<…>::at
 *	std::__cxx11::basic_string<char, …>::append      std::string::append
 *	std::__1::vector<int>::at, f[abi:cxx11]          std::vector<…>::at, f
 *	absl::lts_20230802::Mutex, fmt::v10::vformat     absl::Mutex, fmt::vformat
 *	core::ptr::drop_in_place::<T>                    core::ptr::drop_in_place::<…>
 *	<alloc::vec::Vec<T> as Drop>::drop               <alloc::vec::Vec<…> as Drop>::drop
 *	main.Map[go.shape.int]                           main.Map[…]
 *	f(int)::{lambda(int)#1}                          f(int)::{lambda#1}
 */
#ifndef LIBSYM_NAME_SIMPLIFY_H
#define LIBSYM_NAME_SIMPLIFY_H

#include "base/text/buf.h"

enum simplify_flag {
	SIMPLIFY_NAMESPACES = 1, /* inline namespaces of libraries, abi tags */
	SIMPLIFY_DEFAULTS = 2,   /* default arguments (allocators, traits), std::string */
	SIMPLIFY_TEMPLATES =
		4, /* template arguments become <…>, lambdas lose their arguments */
	SIMPLIFY_ALL = 7,
	/* Foo::Foo(Foo const&) → Foo::copy_construct, Foo::Foo(Foo&&) → Foo::move_construct;
	 * needs the argument list, so demangle with parameters first. Other constructors stay.
	 */
	SIMPLIFY_CONSTRUCTORS = 8,
};

/* Append the simplified name to *out (its failure state is the only error). A name with
 * unbalanced brackets is appended unchanged. */
void simplify(struct buf *out, const char *name, size_t n, unsigned flags);

/*
 * Where a function's own name begins in `name`: after its namespaces, classes, packages. A
 * closure's and a call operator's names nothing, so it is that with what is before it.
 *
 *	OrderBook<…>::insert            insert
 *	serve::{lambda#1}::operator()   serve::{lambda#1}::operator()
 *	main.(*Server).Serve            Serve
 */
size_t name_own(const char *name, size_t n);

/* Append the name simplified as far as possible. Of one whose brackets do not match, because
 * its middle was cut out (longname.h), that is its own name. */
void name_short(struct buf *out, const char *name, size_t n);

/* Append the name in at most `room` characters (of UTF-8): as it is; or short; or that with "…"
 * for what is before its own name, "exchange::OrderB…::insert"; or the begin of its own name. */
void name_fit(struct buf *out, const char *name, size_t n, size_t room);

#endif
