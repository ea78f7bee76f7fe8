/*
 * tidy.h - a symbol as one element of a folded stack.
 *
 *	symbol (demangled) ──simplify──► ──tidy──► "a;b" between the ; of a folded line
 *
 * Two ways with one interface. `tidy_strict` does to a symbol byte for byte what
 * stackcollapse-perf.pl does to the text between the address and " (dso)" of a perf script
 * line, once its "+0x..." is gone and "[unknown]" has been replaced: it cuts at the first "("
 * and splits at every "->", operators or not. `tidy_right` means the same and knows brackets:
 *
 *	symbol    std::function<void (int)>::operator()(int) const
 *	strict    std::function<void
 *	right     std::function<void (int)>::operator()
 *
 *	symbol    std::unique_ptr<T>::operator->
 *	strict    std::unique_ptr<T>::operator
 *	right     std::unique_ptr<T>::operator->
 *
 *	symbol    f(int)::{lambda(int)#1}::operator()(int) const
 *	strict    f
 *	right     f::{lambda(int)#1}::operator()
 *
 *	symbol    (anonymous namespace)::f(int)
 *	strict    no frame
 *	right     (anonymous namespace)::f
 *
 * Both: ";" becomes ":", quotes go, argument lists go, Go's ".(*T)." and "(anonymous
 * namespace)" stay, with TIDY_JAVA a class path loses its leading L, "a->b" becomes the
 * frames a;b_[i] (JIT compilers write inlining so), and a name that is all "(...)" is no frame.
 * Pure functions; the result is appended to *out, whose failure state (buf_failed) is the only
 * error.
 */
#ifndef LIBSYM_NAME_TIDY_H
#define LIBSYM_NAME_TIDY_H

#include "base/buf.h"

enum tidy_flag {
	TIDY_JAVA = 1,    /* the comm starts with "java" */
	TIDY_NOSPLIT = 2, /* never split: the name stands for a DSO, "[libfoo->bar.so]" */
};

/*
 * Append the frames of `name`, ";" between them; `mark` ("_[k]", "_[j]" or NULL) goes to the
 * first, the others get "_[i]". Returns the number of frames; 0 = nothing was appended.
 */
size_t tidy_strict(struct buf *out, const char *name, size_t n, unsigned flags,
		   const char *mark);
size_t tidy_right(struct buf *out, const char *name, size_t n, unsigned flags,
		  const char *mark);

/* 1 when the two answer differently for this name. */
int tidy_differs(const char *name, size_t n, unsigned flags);

#endif
