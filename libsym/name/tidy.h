/*
 * tidy.h - a symbol as one element of a folded stack.
 *
 *	symbol (demangled) ──simplify──► ──tidy──► "a;b" between the ; of a folded line
 *
 * Like stackcollapse-perf.pl's treatment of the text between the address and " (dso)" of a perf
 * script line; but that cuts at the first "(" and splits at every "->", even in operators,
 * while this matches brackets:
 *
 *	symbol    std::function<void (int)>::operator()(int) const
 *	Perl      std::function<void
 *	here      std::function<void (int)>::operator()
 *
 *	symbol    std::unique_ptr<T>::operator->
 *	Perl      std::unique_ptr<T>::operator
 *	here      std::unique_ptr<T>::operator->
 *
 *	symbol    f(int)::{lambda(int)#1}::operator()(int) const
 *	Perl      f
 *	here      f::{lambda(int)#1}::operator()
 *
 *	symbol    (anonymous namespace)::f(int)
 *	Perl      no frame
 *	here      (anonymous namespace)::f
 *
 * In both ";" becomes ":", quotes and argument lists are removed, Go's ".(*T)." and "(anonymous
 * namespace)" stay, with TIDY_JAVA a class path loses its leading L, "a->b" becomes the frames
 * a;b_[i] (JIT compilers write inlining so), and a name that is only "(...)" is not a frame.
 * Pure functions; the result is appended to *out, whose failure state (buf_failed) is the only
 * error.
 */
#ifndef LIBSYM_NAME_TIDY_H
#define LIBSYM_NAME_TIDY_H

#include "base/text/buf.h"

enum tidy_flag {
	TIDY_JAVA = 1,    /* the comm starts with "java" */
	TIDY_NOSPLIT = 2, /* never split: the name is a DSO's, "[libfoo->bar.so]" */
};

/*
 * Append the frames of `name`, ";" between them; `mark` ("_[k]", "_[j]" or NULL) is appended to
 * the first, "_[i]" to the others. Returns the number of frames; 0 = nothing was appended.
 */
size_t tidy_name(struct buf *out, const char *name, size_t n, unsigned flags, const char *mark);

#endif
