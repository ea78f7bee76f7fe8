/*
 * cfirows - print the rows our CFI interpreter makes, in the shape of `readelf -wF`, one line a
 * row: START-OF-FDE LOC CFA then "register=rule" for every column that is not unspecified.
 *
 *	cfirows ELF [EVERY]      # EVERY n: only FDEs whose number is a multiple of n
 *	cfirows -r ELF [EVERY]   # the compact rule at each row, through the lookup by address:
 *	                         # prints only disagreements with the full row; exit 1 if any
 */
#include "libsym/unwind/cfi.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
	struct cfi *cfi;
	unsigned long every, number, bad;
	int rules;
};

static const char *const x86_name[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
				       "rbp", "rsp", "r8",  "r9",  "r10", "r11",
				       "r12", "r13", "r14", "r15", "rip"};

static void print_reg(const struct job *j, unsigned n)
{
	if (cfi_arch(j->cfi)->machine == EM_X86_64 && n < 17)
		printf("%s", x86_name[n]);
	else if (cfi_arch(j->cfi)->machine == EM_AARCH64 && n == ARM_SP)
		printf("sp");
	else
		printf("x%u", n);
}

static void print_row(const struct job *j, const struct cfi_fde *fde, const struct cfi_cie *cie,
		      const struct cfi_row *row)
{
	printf("%" PRIx64 " %" PRIx64 " ", fde->start, row->start);
	if (row->cfa.how == CFI_EXPR) {
		printf("exp");
	} else {
		print_reg(j, row->cfa_reg);
		printf("%+d", row->cfa.v);
	}
	for (unsigned i = 0; i < CFI_REGS; i++) {
		const struct cfi_reg *r = &row->reg[i];
		if (r->how == CFI_UNSPEC)
			continue;
		printf(" ");
		if (i == cie->ra_reg)
			printf("ra");
		else
			print_reg(j, i);
		printf("=");
		switch (r->how) {
		case CFI_UNDEFINED:
			printf("u");
			break;
		case CFI_SAME:
			printf("s");
			break;
		case CFI_OFFSET:
			printf("c%+d", r->v);
			break;
		case CFI_VAL_OFFSET:
			printf("v%+d", r->v);
			break;
		case CFI_REGISTER:
			print_reg(j, (unsigned)r->v);
			break;
		case CFI_EXPR:
			printf("exp");
			break;
		default:
			printf("vexp");
		}
	}
	printf("\n");
}

/* The rule found by address equals the rule of the row, at its first and last byte. */
static void check_rule(struct job *j, const struct cfi_section *s, const struct cfi_cie *cie,
		       const struct cfi_fde *fde, const struct cfi_row *row)
{
	uint64_t at[2] = {row->start, row->end - 1};
	struct unwind_rule want;
	cfi_rule_of(cfi_arch(j->cfi), s, cie, row, &want);
	for (int i = 0; i < 2; i++) {
		struct cfi_hit hit;
		int rc = cfi_find(j->cfi, at[i], &hit, NULL);
		if (rc == 1 && hit.start == fde->start &&
		    !memcmp(&want, &hit.rule, sizeof(want)))
			continue;
		if (j->bad++ < 10)
			printf("0x%" PRIx64 ": lookup disagrees with the row\n", at[i]);
	}
}

static struct cfi_run run;

static int one_fde(void *ctx, const struct cfi_section *s, const struct cfi_cie *cie,
		   const struct cfi_fde *fde)
{
	struct job *j = ctx;
	struct err e = {0};
	int rc;
	if (j->number++ % j->every)
		return 0;
	cfi_run_init(&run, s, cie, fde);
	while ((rc = cfi_run_next(&run, &e)) == 1)
		if (!j->rules)
			print_row(j, fde, cie, &run.row);
	if (rc < 0)
		printf("%" PRIx64 " error: %s\n", fde->start, e.msg);
	return 0;
}

/* cfi_each_fde holds the lock, so lookups wait until the ranges are collected. */
struct range {
	const struct cfi_section *s;
	struct cfi_cie cie;
	struct cfi_fde fde;
};
static struct range *ranges;
static size_t nranges, cap;

static int keep_fde(void *ctx, const struct cfi_section *s, const struct cfi_cie *cie,
		    const struct cfi_fde *fde)
{
	struct job *j = ctx;
	if (j->number++ % j->every || fde->start == fde->end)
		return 0;
	if (nranges == cap) {
		cap = cap ? cap * 2 : 1024;
		ranges = realloc(ranges, cap * sizeof(*ranges));
		if (!ranges)
			return -1;
	}
	ranges[nranges++] = (struct range){s, *cie, *fde};
	return 0;
}

int main(int argc, char **argv)
{
	struct job j = {.every = 1};
	if (argc > 1 && !strcmp(argv[1], "-r")) {
		j.rules = 1;
		argc--, argv++;
	}
	if (argc < 2)
		return 2;
	if (argc > 2)
		j.every = strtoul(argv[2], NULL, 10);
	struct err e = {0};
	struct elf_file *f;
	if (!j.every || elf_file_open(argv[1], &f, &e) || cfi_open(f, NULL, &j.cfi, &e)) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	cfi_each_fde(j.cfi, j.rules ? keep_fde : one_fde, &j);
	for (size_t i = 0; i < nranges; i++) {
		const struct range *r = &ranges[i];
		cfi_run_init(&run, r->s, &r->cie, &r->fde);
		while (cfi_run_next(&run, NULL) == 1)
			check_rule(&j, r->s, &r->cie, &r->fde, &run.row);
	}
	free(ranges);
	if (cfi_damage(j.cfi))
		printf("damage: %s\n", cfi_damage(j.cfi));
	cfi_close(j.cfi);
	elf_file_close(f);
	return j.bad != 0;
}
