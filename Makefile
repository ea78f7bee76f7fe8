# perfkit - one Makefile for everything; `make help` lists the targets.
#
# A folder is a library; every .c in it and in its rooms (the folders in it) belongs to it. Objects go to $(O), default build/.

-include config.mk

O ?= build
V ?= 0
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0
RELEASED := 2026-11-22

ifneq ($(filter-out help clean distclean format,$(or $(MAKECMDGOALS),all)),)
ifeq ($(wildcard config.mk),)
$(error run ./configure first)
endif
endif

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@echo "  $(1)	$(2)";)

CFLAGS ?=
LDFLAGS ?=
# What configure found of it; sanitizers have their own checks, and -O0 has no _FORTIFY_SOURCE.
HARDENED = $(if $(SANITIZE)$(filter -O0,$(OPT)),,yes)
HARDEN = $(if $(HARDENED),$(HARDEN_CFLAGS))
ALL_LDFLAGS = $(SANITIZE) $(if $(HARDENED),$(HARDEN_LDFLAGS)) $(LDFLAGS)
ALL_CFLAGS = -std=gnu11 $(OPT) $(HARDEN) $(WARN) $(SANITIZE) -D_GNU_SOURCE -DPERFKIT_VERSION='"$(VERSION)"' \
	-DPERFKIT_RELEASED='"$(RELEASED)"' \
	-I. $(DEP_CFLAGS) $(THREADS) -MMD -MP $(CFLAGS)
LIBS = $(DEP_LIBS) -lm -ldl $(THREADS)
THREADS = -pthread

# All CPUs unless the user says how many.
ifeq ($(MAKELEVEL),0)
ifeq ($(filter -j% --jobs%,$(MAKEFLAGS) $(shell tr '\0' ' ' </proc/$$PPID/cmdline)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
endif

# Lowest first. A library may use what stands before it.
LAYERS := base libparse libsym libtime render
# Link order is the reverse.
LINK_A := $(O)/librender.a $(O)/liblibtime.a $(O)/liblibsym.a $(O)/liblibparse.a $(O)/libbase.a

comma := ,
# A library is its folder and the rooms in it.
sources = $(filter-out %.bpf.c,$(sort $(wildcard $(1)/*.c $(1)/*/*.c)))
obj = $(patsubst %.c,$(O)/%.o,$(call sources,$(1)))

.PHONY: all check bench install uninstall asan clean distclean help demo shots pictures schema format
all: $(O)/perfkit

ifneq ($(wildcard config.mk),)
config.mk: configure
	@echo "configure has changed, running it again" && ./configure $(CONFIGURE_ARGS) >/dev/null
endif

$(O)/perfkit: $(call obj,cmd) $(LINK_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $(call obj,cmd) $(LINK_A) $(LIBS)

# One file that needs no library, for machines without any. ld warns of dlopen: without a libc
# beside it, debuginfod is not asked.
.PHONY: static
static: $(O)/perfkit-static
ifneq ($(NO_STATIC),)
$(O)/perfkit-static: no-static
.PHONY: no-static
no-static:
	@echo 'make static: $(NO_STATIC): Debian 13 ships a libelf.a that does not link;' \
		'Debian 12 has one that does, and the program it makes runs everywhere' >&2; exit 1
endif
$(O)/perfkit-static: $(call obj,cmd) $(LINK_A)
	$(call say,LD,$@)$(CC) $(SANITIZE) $(or $(and $(HARDENED),$(STATIC_PIE)),-static) \
		$(if $(HARDENED),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now) $(LDFLAGS) -o $@ $(call obj,cmd) $(LINK_A) $(LIBS) \
		`pkg-config --static --libs libelf sqlite3 libtraceevent` -lm && $(STRIP) $@

# For another Debian architecture, with its cross compiler: $(O)/ARCH/perfkit-static.
STRIP ?= strip
static-%:
	$(Q)MAKE='$(MAKE)' O='$(O)' sh packaging/cross.sh $* static

# All of perfkit as WebAssembly, with Debian's emscripten: $(O)/wasm/perfkit.wasm, its perfkit.js for
# node and for a worker of a page; packaging/wasm_libs.txt lists what is linked in.
WASM := $(O)/wasm
WASM_OPT := -O2
WASM_LIBS := $(or $(SYSROOT),sysroot)/wasm
WASM_TRACEEVENT = $(shell sed -n 's/^libtraceevent [0-9]*:*\([0-9.]*\).*/\1/p' packaging/wasm_libs.txt)
WASM_CFLAGS = -I$(WASM_LIBS)/include -I$(WASM_LIBS)/include/traceevent -I$(WASM_LIBS)/include/libiberty \
	-DHAVE_LZMA=1 -DHAVE_BZ2=1 -DHAVE_DEFLATE=1 -DHAVE_CAPSTONE=0 -include base/os/lacking.h
WASM_LINK = -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=32MB -sTOTAL_STACK=8MB \
	-sMODULARIZE=1 -sEXPORT_NAME=perfkit -sENVIRONMENT=node,worker -sEXIT_RUNTIME=1 -sINVOKE_RUN=0 \
	-sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0 -sFORCE_FILESYSTEM=1 -sSTRICT=1 -sALLOW_UNIMPLEMENTED_SYSCALLS=1 -sASSERTIONS=0 \
	-sEXPORTED_RUNTIME_METHODS=FS,callMain,NODEFS,WORKERFS,ENV -lnodefs.js -lworkerfs.js
.PHONY: wasm wasm-libs wasm-link
wasm-libs: $(WASM_LIBS)/made
wasm: $(WASM_LIBS)/made
	$(Q)$(MAKE) --no-print-directory O=$(WASM) CC=emcc AR=emar OPT="$(WASM_OPT)" SANITIZE= THREADS= HARDEN_CFLAGS= HARDEN_LDFLAGS= \
		TRACEEVENT_VERSION=$(WASM_TRACEEVENT) DEP_CFLAGS='$(WASM_CFLAGS)' wasm-link
wasm-link: $(O)/perfkit.js
$(O)/perfkit.js: $(call obj,cmd) $(LINK_A)
	$(call say,LD,$@)NODE_PATH=/usr/share/nodejs emcc -O2 $(WASM_LINK) -o $@ $(call obj,cmd) $(LINK_A) -L$(WASM_LIBS)/lib \
		-ltraceevent -lelf -lzstd -lsqlite3 -lxxhash -liberty -llzma -lbz2 -ldeflate -lz
$(WASM_LIBS)/made: packaging/wasm_libs.sh packaging/wasm_libs.txt
	$(Q)sh packaging/wasm_libs.sh $(WASM_LIBS)

# An npm package of it, $(O)/npm/perfkit-VERSION.tgz, and the page, $(O)/perfkit.html.
.PHONY: npm page
npm: wasm
	$(Q)sh packaging/npm.sh $(WASM) $(O)/npm $(VERSION)
page: wasm
	$(Q)sh packaging/page.sh $(WASM) $(O)/perfkit.html

define library
$(O)/lib$(1).a: $$(call obj,$(1))
	$$(call say,AR,$$@)rm -f $$@ && $$(AR) qcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call library,$(l))))

$(O)/cmd/main.o: ALL_CFLAGS += -DTRACEEVENT_VERSION='"$(TRACEEVENT_VERSION)"'
$(O)/%.o: %.c config.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# What `perfkit record` runs in the kernel, compiled into it.
ifneq ($(BPF_CC),)
$(O)/%.bpf.o: %.bpf.c config.mk
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(BPF_CC) -target bpf -D__TARGET_ARCH_x86 -O2 -g -Wall -MMD -MP $(BPF_CFLAGS) -c -o $@ $<
$(O)/cmd/record/bpf_recorder.o: $(O)/cmd/record/recorder.bpf.o
$(O)/cmd/record/bpf_recorder.o: ALL_CFLAGS += -DRECORDER_BPF='"$(O)/cmd/record/recorder.bpf.o"'
endif

# --- man pages and shell completions: the program's own option tables, written down --------
$(O)/man/made: $(O)/perfkit
	@mkdir -p $(@D)
	$(call say,MAN,$(@D))rm -f $(@D)/*.1 && $(O)/perfkit help --man perfkit >$(@D)/perfkit.1 && \
		for v in `$(O)/perfkit help --verbs`; do \
			$(O)/perfkit help --man $$v >$(@D)/perfkit-$$v.1 || exit 1; \
		done && : >$@
COMPLETIONS := $(O)/completions/perfkit.bash $(O)/completions/perfkit.zsh \
	$(O)/completions/perfkit.fish
$(COMPLETIONS): $(O)/completions/perfkit.%: $(O)/perfkit
	@mkdir -p $(@D)
	$(Q)$(O)/perfkit help --completion $* >$@

# --- what the pictures carry ----------------------------------------------------------------
# Style sheets and scripts as C strings: flame_css, flame_js, timeline_css, ..., html_js. A
# picture's script is a function of its <svg> and of the page that has it; a report holds those
# of all pictures. Comment lines and indentation stay out.
picture_JS = render/svg/svg_text.js render/svg/svg_common.js $($1_OWN)
flame_OWN := render/flame/flame_names.js render/flame/flame_merge.js render/flame/flame_tree.js render/flame/flame_draw.js render/flame/flame_ui.js
timeline_OWN := render/timeline/timeline_data.js render/timeline/timeline_rows.js render/timeline/timeline_draw.js render/timeline/timeline_card.js render/timeline/timeline_ui.js
html_OWN := render/svg/svg_text.js render/flame/flame_names.js render/flame/flame_merge.js $(addprefix render/html/html_,data.js time.js lives.js heat.js flame.js table.js source.js worker.js episodes.js strip.js case.js bar.js ui.js)
flame_CSS := render/flame/flame.css
timeline_CSS := render/flame/flame.css render/timeline/timeline.css
html_CSS := render/html/html.css render/html/html_source.css
SCRIPTS := render/svg/svg_text.js render/svg/svg_common.js $(flame_OWN) $(timeline_OWN) $(html_OWN)
js_strip = sed -e '/^[[:blank:]]*\/\//d' -e 's/^[[:blank:]]*//' $1
picture_function = { echo '(function (svg, host) { "use strict";'; $(call js_strip,$(call picture_JS,$1)); echo '})'; }
$(O)/render/flame.js $(O)/render/timeline.js: $(O)/render/%.js: $(SCRIPTS) Makefile
	@mkdir -p $(@D)
	$(Q){ $(call picture_function,$*); \
		echo '(document.currentScript && document.currentScript.closest("svg") || document.documentElement, null);'; \
	} >$@.tmp && mv $@.tmp $@
$(O)/render/html.js: $(SCRIPTS) Makefile
	@mkdir -p $(@D)
	$(Q){ echo '(function () { "use strict"; const pictures = {flame:'; $(call picture_function,flame); \
		echo ', timeline:'; $(call picture_function,timeline); echo '};'; \
		$(call js_strip,$(html_OWN)); echo '})();'; } >$@.tmp && mv $@.tmp $@
# As the page's policy wants it: base64 of a script's SHA-256.
csp_hash = sha256sum <$1 | awk '{ s = substr($$1, 1, 64) "00"; x = "0123456789abcdef"; \
	d = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"; \
	for (i = 1; i < 66; i += 3) { v = 0; for (k = 0; k < 3; k++) v = v * 16 + index(x, substr(s, i + k, 1)) - 1; \
		o = o substr(d, int(v / 64) + 1, 1) substr(d, v % 64 + 1, 1) } print "sha256-" substr(o, 1, 43) "=" }'
c_bytes = od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
.SECONDEXPANSION:
$(O)/render/%_embed.c: $(O)/render/%.js $$($$*_CSS)
	$(call say,GEN,$@){ \
		echo 'extern const char $*_css[], $*_js[];'; \
		echo 'const char $*_css[] = {'; cat $($*_CSS) | $(c_bytes); echo '0};'; \
		echo 'const char $*_js[] = {'; cat $< | $(c_bytes); echo '0};'; \
		{ [ $* = html ] || echo; cat $<; } >$@.script; \
		[ $* = timeline ] || echo "extern const char $*_js_hash[]; const char $*_js_hash[] = \"`$(call csp_hash,$@.script)`\";"; \
	} >$@.tmp && mv $@.tmp $@
$(O)/render/%_embed.o: $(O)/render/%_embed.c
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<
.PRECIOUS: $(O)/render/%_embed.c $(O)/render/%.js
$(O)/librender.a: $(O)/render/flame_embed.o $(O)/render/timeline_embed.o $(O)/render/html_embed.o

# Data files that are compiled in: X becomes the C string $(O)/gen/X.inc.
c_string = sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' -e 's/^/"/' -e 's/$$/\\n"/'
$(O)/gen/%.inc: %
	@mkdir -p $(@D)
	$(Q)$(c_string) $< >$@
$(O)/gen/cmd/cli/help/words.inc: docs/words.md
	@mkdir -p $(@D)
	$(Q)$(c_string) $< >$@
$(O)/libtime/store/store_schema.o: $(O)/gen/libtime/store/views.sql.inc
$(O)/libtime/causes/causes_builtin.o: $(O)/gen/libtime/causes/causes.rules.inc
$(O)/libtime/causes/mechanism.o: $(O)/gen/libtime/causes/mechanisms.rules.inc
$(O)/libsym/name/frame_table.o: $(O)/gen/libsym/name/frames.rules.inc
$(O)/libtime/store/store_schema.o $(O)/libtime/causes/causes_builtin.o $(O)/libtime/causes/mechanism.o $(O)/libsym/name/frame_table.o: ALL_CFLAGS += -I$(O)/gen
FLEET_INC := $(patsubst %,$(O)/gen/%.inc,$(wildcard fleet/*.sql))
$(O)/cmd/fleet_queries.o: $(FLEET_INC)
$(O)/cmd/fleet_queries.o: ALL_CFLAGS += -I$(O)/gen/fleet
HELP_INC := $(addprefix $(O)/gen/,cmd/cli/help/exit-status.txt.inc cmd/cli/help/names.txt.inc cmd/cli/help/words.inc)
$(O)/cmd/cli/topics.o: $(HELP_INC)
$(O)/cmd/cli/topics.o: ALL_CFLAGS += -I$(O)/gen

# --- tests -------------------------------------------------------------------------------
# tests/unit/LIB/test_*.c is one cmocka program each, linked with LIB and what lies below it
# only, which proves the layering. tests/lib holds what several of them share (the perf.data
# writer); tests/cli/*.sh drive the built program.

UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(O)/%)
TESTLIB := $(O)/libtestlib.a
$(TESTLIB): $(call obj,tests/lib)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

below_base := $(O)/libbase.a
below_libparse := $(O)/liblibparse.a $(below_base)
below_libsym := $(O)/liblibsym.a $(below_libparse)
below_libtime := $(O)/liblibtime.a $(below_libsym)
below_render := $(O)/librender.a $(below_libtime)
unit_layer = $(word 3,$(subst /, ,$(1)))

.SECONDEXPANSION:
$(UNIT_BIN): $(O)/%: $(O)/%.o $(TESTLIB) $$(below_$$(call unit_layer,$$*))
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< $(TESTLIB) $(below_$(call unit_layer,$*)) -lcmocka $(LIBS)

# Small programs the tests run: recorders, workloads, witnesses.
PROG_BIN := $(patsubst %.c,$(O)/%,$(wildcard tests/prog/*.c))
$(O)/tests/prog/libdw_witness: LIBS += -ldw
$(PROG_BIN): $(O)/%: $(O)/%.o $(TESTLIB) $(LINK_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< $(TESTLIB) $(LINK_A) $(LIBS)

# Programs that wait in known ways and log it; each also under other names. Frame pointers, and
# no sanitizer: perf reads them.
TRUTH_SRC := $(filter-out %/gil_hold.c,$(wildcard tests/truth/*.c)) # a library
TRUTH_BIN := $(TRUTH_SRC:%.c=$(O)/%) $(TRUTH_SRC:%.c=$(O)/%-alt)
truth_cc = $(CC) -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls $(WARN) \
	-Wno-unused-function -D_GNU_SOURCE -pthread
$(O)/tests/truth/%-alt: tests/truth/%.c tests/truth/truth.h config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(truth_cc) -DALT -o $@ $<
$(O)/tests/truth/%: tests/truth/%.c tests/truth/truth.h config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(truth_cc) -o $@ $<

# Programs that log what their requests waited for, for tests/requests/matrix.py.
REQUESTS_BIN := $(patsubst %.c,$(O)/%,$(filter-out tests/requests/log.c,$(wildcard tests/requests/*.c))) \
	$(O)/tests/requests/futures
$(filter-out %/futures,$(REQUESTS_BIN)): $(O)/%: %.c tests/requests/requests.h tests/truth/truth.h config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(truth_cc) -o $@ $<
$(O)/tests/requests/futures: tests/requests/futures.cc tests/requests/log.c tests/requests/requests.h \
		tests/requests/log.hh tests/truth/truth.h config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(truth_cc) -c -o $@.o tests/requests/log.c && \
		$(CXX) -O1 -g -fno-omit-frame-pointer -Wall -Wextra -pthread -o $@ $< $@.o

# Does perfkit hide time that a request waited for? Records each program several times: 15 minutes.
.PHONY: truth
truth: all $(REQUESTS_BIN)
	$(Q)O='$(O)' sh tests/busy.sh python3 tests/requests/matrix.py $(T)

# What tests/cli/exact.sh compares: write it anew, and read the diff.
.PHONY: exact
exact: all
	$(Q)SRC='$(CURDIR)' PERFKIT="$$(cd '$(O)' && pwd)/perfkit" sh tests/exact/run.sh tests/exact
	$(Q)git --no-pager diff --stat -- tests/exact 2>/dev/null || :

# Are lines and instructions right? Asks addr2line and objdump, too: 8 minutes.
.PHONY: truth-source
truth-source: all $(O)/tests/prog/frames_at $(O)/tests/prog/code_at
	$(Q)python3 -B tests/truth/source/check.py '$(O)' '$(CURDIR)' $(T)

# Is any name false? Records programs that log in which functions they are: 10 minutes.
.PHONY: truth-names
truth-names: all
	$(Q)O='$(O)' python3 -B tests/truth/names/matrix.py $(T)

# Fuzz targets, one for each door (tests/fuzz/README.md). Compiled by every check with a driver that
# replays files; `make fuzz` builds them again for libFuzzer and runs them.
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ_NAMES:%=$(O)/tests/fuzz/fuzz_%)
FUZZ_LIB := $(O)/tests/fuzz/fuzzlib.o $(O)/tests/fuzz/asktimeline.o $(O)/tests/fuzz/smallstore.o
FUZZ_DRIVER ?= $(O)/tests/fuzz/replay.o
$(FUZZ_BIN): $(O)/%: $(O)/%.o $(FUZZ_LIB) $(FUZZ_DRIVER) $(TESTLIB) $(LINK_A) $(call obj,cmd)
	$(call say,LD,$@)$(CC) $(SANITIZE) $(FUZZ_LINK) -o $@ $< $(FUZZ_LIB) $(FUZZ_DRIVER) \
		$(if $(findstring fuzz_program,$@),$(filter-out %/main.o,$(call obj,cmd))) \
		$(TESTLIB) $(LINK_A) $(LIBS)
$(O)/tests/fuzz/seeds: $(O)/tests/fuzz/seeds.o $(FUZZ_LIB) $(TESTLIB) $(LINK_A)
	$(call say,LD,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< $(FUZZ_LIB) $(TESTLIB) $(LINK_A) $(LIBS)

# make fuzz [T=SECONDS] [F=NAME]: every target, or one, for so long; see tests/fuzz/run.sh.
.PHONY: fuzz fuzz-bin
fuzz-bin: $(FUZZ_BIN) $(O)/tests/fuzz/seeds $(O)/tests/prog/pwgen
fuzz:
	$(Q)mkdir -p $(O)-fuzz
	$(Q)$(MAKE) O=$(O)-fuzz CC=clang OPT='-O1 -g' FUZZ_DRIVER= FUZZ_LINK=-fsanitize=fuzzer \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' \
		fuzz-bin
	$(Q)sh tests/fuzz/run.sh $(O)-fuzz $(or $(T),60) $(or $(F),$(FUZZ_NAMES))

# The programs that read exports in tests: tests/readers.txt.
.PHONY: readers
readers:
	$(Q)sh tests/readers.sh $(O)/readers $(READERS)

# The unit programs alone, and those of another architecture under qemu: s390x, the other byte
# order; i386, 32 bits; arm64.
.PHONY: units
units: $(UNIT_BIN)
check-%:
	$(Q)MAKE='$(MAKE)' O='$(O)' sh packaging/cross.sh $* units
	$(Q)O='$(O)/$*' RUN="$$(sh packaging/cross.sh $* run)" sh tests/run.sh unit/$(T)

# A name that no test has is said before anything is built.
TEST_NAMES = $(patsubst tests/cli/%.sh,cli/%,$(wildcard tests/cli/*.sh)) \
	$(subst /test_,/,$(patsubst tests/%.c,%,$(wildcard tests/unit/*/test_*.c)))
ifeq ($(filter check,$(MAKECMDGOALS)) $(words $(T)),check 1)
$(if $(findstring $(T),$(TEST_NAMES)),,\
	$(error no test has '$(T)' in its name; names are like cli/tail and unit/libsym/plt))
endif

# T=cli/NAME needs no unit programs, T=unit/NAME nothing else; few tests need the fuzz targets.
WITH_FUZZ = cli/fuzz cli/ceilings cli/escapes cli/html_browser
for_units = $(if $(filter 1,$(HAVE_CMOCKA)),$(if $(filter cli/%,$(T)),,$(UNIT_BIN)))
for_cli = $(if $(filter unit/%,$(T)),,$(PROG_BIN) $(TRUTH_BIN) \
	$(if $(filter-out $(WITH_FUZZ),$(filter cli/%,$(T))),,$(FUZZ_BIN) $(O)/tests/fuzz/seeds))
check: all $(for_units) $(for_cli)
	$(Q)$(TEST_ENV) sh tests/run.sh $(T)

# The README's two commands in bare roots of other releases: R="bookworm trixie". Takes root.
.PHONY: check-elsewhere
check-elsewhere:
	$(Q)WASM=1 sh tests/elsewhere.sh $(R)

# One answer from file, standard input, bundle and store: testdata, $$PERFKIT_CORPUS, damaged
# recordings; T=NAME those whose name holds NAME. A tenth of it is part of check.
.PHONY: same
same: all
	$(Q)python3 tests/same.py $(O)/perfkit . $(T)

# What tests/house.sh demands of the sources; part of check as cli/house.
TEST_ENV = O='$(O)' CC='$(CC)' HEADER_CFLAGS='$(DEP_CFLAGS)'
.PHONY: check-layers check-house check-rules lines
lines:
	@sh tests/house.sh lines

check-layers: $(LINK_A)
	$(Q)$(TEST_ENV) sh tests/house.sh layers
# cli/nomem with every single allocation failing in turn: some minutes.
.PHONY: check-nomem check-hardening check-release
# What the ELF files say of how they were built; part of check as cli/hardening.
check-hardening: all
	$(Q)$(TEST_ENV) sh tests/run.sh cli/hardening
# Two releases from two folders, byte for byte: some minutes.
check-release:
	$(Q)MAKE='$(MAKE)' CC='$(CC)' sh packaging/release.sh check
check-nomem: all
	$(Q)NOMEM_STEP=1 TEST_SECONDS=7200 $(TEST_ENV) sh tests/run.sh cli/nomem
# Each pattern of the rules names a function that there is; REMAKE=1 looks for them here again.
check-rules: $(O)/tests/prog/plainname
	$(Q)python3 tests/rules/check.py $<
check-house: all
	$(Q)$(TEST_ENV) sh tests/house.sh headers code externs hostile recipes asserts

# --- what reads the sources without running them -------------------------------------------
# clang-tidy with the checks of .clang-tidy, and gcc's analyzer; a warning is a failure. A file
# is read again when it or any header has changed. clang gives a function up after a quarter of
# the states it would follow by itself: four times as fast.
CLANG_TIDY ?= clang-tidy
GCC ?= gcc
READ_SRC := $(foreach d,$(LAYERS) cmd,$(call sources,$(d)))
READ_DEPS := $(foreach d,$(LAYERS) cmd,$(wildcard $(d)/*.h $(d)/*/*.h)) tests/analyze.h config.mk \
	$(addprefix $(O)/gen/,libtime/store/views.sql.inc libtime/causes/causes.rules.inc libtime/causes/mechanisms.rules.inc libsym/name/frames.rules.inc) \
	$(HELP_INC)
READ_CFLAGS = $(filter-out -MMD -MP,$(ALL_CFLAGS)) -I$(O)/gen \
	-DTRACEEVENT_VERSION='"$(TRACEEVENT_VERSION)"' \
	$(if $(filter base/err.c,$<),,-include tests/analyze.h)
.PHONY: tidy analyze clang
tidy: macos
tidy analyze:
	$(Q)$(MAKE) --no-print-directory -k SANITIZE= $(READ_SRC:%.c=$(O)/$@/%.ok)
$(O)/tidy/%.ok: %.c .clang-tidy $(READ_DEPS)
	@mkdir -p $(@D)
	$(call say,TIDY,$<)$(CLANG_TIDY) --quiet $< -- $(READ_CFLAGS) \
		-Xclang -analyzer-config -Xclang max-nodes=60000 2>$@.log || \
		{ cat $@.log; exit 1; }
	@touch $@
$(O)/analyze/%.ok: %.c $(READ_DEPS)
	@mkdir -p $(@D)
	$(call say,ANALYZE,$<)$(GCC) $(READ_CFLAGS) -fanalyzer -Werror -c -o /dev/null $<
	@touch $@

# What a program for macOS would be made of, compiled against that system's headers and linked with
# nothing: what records or watches is left out. Libraries' headers are this machine's. ZIG is `zig`, or Python's
# ziglang.
ZIG ?= $(or $(shell command -v zig),$(shell python3 -c 'import ziglang, sys; print(sys.executable, "-m ziglang")' 2>/dev/null))
MACOS_SRC = $(filter-out cmd/record% cmd/watch% cmd/fleet% cmd/jitter% cmd/answer/watch% libtime/watch/%,$(READ_SRC))
MACOS_HEADERS := zlib.h zconf.h zstd.h zstd_errors.h sqlite3.h xxhash.h lzma.h lzma bzlib.h libdeflate.h dwarf.h \
	elf.h libelf.h gelf.h elfutils capstone
.PHONY: macos
macos: $(if $(ZIG),$(MACOS_SRC:%.c=$(O)/macos/%.ok))
	@$(if $(ZIG),:,echo "left out: sources against macOS's headers need zig (PyPI: ziglang)")
$(O)/macos/%.ok: %.c $(READ_DEPS) $(O)/macos/include/made
	@mkdir -p $(@D)
	$(call say,MACOS,$<)$(ZIG) cc -target aarch64-macos -Werror -w -c -o $@.o $(filter-out -MMD -MP -pthread $(HARDEN),$(ALL_CFLAGS)) \
		-I$(O)/gen -I$(O)/gen/fleet -I$(O)/macos/include -DTRACEEVENT_VERSION='"$(TRACEEVENT_VERSION)"' -include base/os/lacking.h $<
	@rm $@.o && touch $@
$(O)/macos/include/made:
	@mkdir -p $(@D)/bits
	@for h in $(MACOS_HEADERS); do [ ! -e /usr/include/$$h ] || ln -sfn /usr/include/$$h $(@D)/$$h; done
	@: | $(CC) -E -M -include elf.h - | tr ' ' '\n' | sed -n '/bits\/auxv\.h$$/p' | xargs -I{} ln -sfn {} $(@D)/bits/auxv.h
	@touch $@

# Everything by the other compiler, without a warning; those do not depend on -O.
clang:
	$(Q)mkdir -p $(O)-clang
	$(Q)$(MAKE) O=$(O)-clang CC=clang OPT=-O0 WARN='$(WARN) -Werror' all units fuzz-bin \
		$(PROG_BIN:$(O)/%=$(O)-clang/%) $(TRUTH_BIN:$(O)/%=$(O)-clang/%)

asan:
	$(Q)mkdir -p $(O)-asan
	$(Q)$(MAKE) O=$(O)-asan OPT='-O1 -g' \
		SANITIZE='-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all' check

# The verbs that have threads, on bundled recordings, under ThreadSanitizer; tsan-check: all tests
# (T= chooses), too. Its shadow memory has no place beside addresses that are too random.
.PHONY: tsan tsan-check
tsan:
	$(Q)mkdir -p $(O)-tsan
	$(Q)$(MAKE) O=$(O)-tsan OPT='-O1 -g' SANITIZE=-fsanitize=thread $(O)-tsan/perfkit \
		$(O)-tsan/tests/prog/twice $(O)-tsan/tests/prog/grow
	$(Q)O=$(O)-tsan sh tests/tsan.sh

tsan-check: tsan
	$(Q)$$(setarch -R true 2>/dev/null && echo setarch -R) $(MAKE) O=$(O)-tsan OPT='-O1 -g' \
		SANITIZE=-fsanitize=thread check T=$(T)

# Which lines the tests reach (T= chooses tests), per library; make coverage T=unit is quick.
.PHONY: coverage
coverage:
	$(Q)mkdir -p $(O)-cov && find $(O)-cov -name '*.gcda' -delete
	$(Q)$(MAKE) O=$(O)-cov OPT='-O0 -g' SANITIZE=--coverage check || true
	$(Q)O=$(O)-cov sh tests/coverage.sh -v

.PHONY: bench-fleet
bench-fleet: all $(O)/tests/prog/shiftids
	$(Q)O=$(O) sh tests/bench_fleet.sh

# The table of docs/recording-cost.md, measured here: root and perf.
.PHONY: bench-record
bench-record: all $(O)/tests/prog/measure
	$(Q)O=$(O) CC='$(CC)' sh tests/bench_record.sh
	$(Q)O=$(O) CC='$(CC)' sh tests/bench_service.sh
	$(Q)python3 -B tests/bench_servers.py $(O)/perfkit

bench: all $(PROG_BIN)
	$(Q)O=$(O) CC='$(CC)' sh tests/bench_diverse.sh
	$(Q)O=$(O) sh tests/bench.sh
	$(Q)O=$(O) sh tests/bench_wasm.sh
	$(Q)O=$(O) sh tests/bench_dwarf.sh
	$(Q)O=$(O) sh tests/bench_sched.sh
	$(Q)O=$(O) sh tests/bench_requests.sh
	$(Q)O=$(O) CC='$(CC)' sh tests/bench_page.sh

# How often tail names what was planted: N runs of each program and variant, recorded here.
.PHONY: truth-holders
truth-holders: all $(O)/tests/truth/holders
	$(Q)$(truth_cc) -shared -fPIC -o $(O)/tests/truth/gil_hold.so tests/truth/gil_hold.c
	$(Q)O='$(O)' sh tests/busy.sh sh tests/truth/holders.sh $(T)

.PHONY: truth-incidents
KINDS := $(O)/tests/truth/incidents
truth-incidents: all
	$(Q)mkdir -p $(KINDS)
	$(Q)$(truth_cc) -o $(KINDS)/kinds tests/truth/incidents/kinds.c -lrt
	$(Q)$(truth_cc) -o $(KINDS)/kept tests/truth/incidents/kept.c -lrt
	$(Q)$(truth_cc) -o $(KINDS)/ask_port tests/truth/incidents/ask_port.c
	$(Q)! command -v javac >/dev/null || javac -d $(KINDS) tests/truth/incidents/Kept.java
	$(Q)$(CC) -shared -fPIC -o $(KINDS)/slow_lib.so tests/truth/incidents/slow_lib.c
	$(Q)! command -v go >/dev/null || go build -o $(KINDS)/assist tests/truth/incidents/assist.go
	$(Q)PERFKIT='$(O)/perfkit' sh tests/truth/incidents/record.sh $(KINDS) $(T)
	$(Q)PERFKIT='$(O)/perfkit' python3 -B tests/truth/incidents/check.py $(KINDS) $(T)

.PHONY: truth-compare
truth-compare: all $(O)/tests/truth/slower $(O)/tests/truth/changed
	$(Q)mkdir -p $(O)/tests/truth/runs
	$(Q)python3 -B tests/truth/compare.py $(O)/perfkit $(O)/tests/truth/runs \
		--record $(O)/tests/truth/slower $(O)/tests/truth/changed

.PHONY: truth20
N = 20
truth20: all $(TRUTH_BIN)
	$(Q)O='$(O)' sh tests/busy.sh python3 tests/truth/planted.py -n $(N) $(T)

shots: all $(O)/tests/prog/flameapi $(O)/tests/prog/timelineapi
	$(Q)PYTHONPATH=tests/browser python3 tests/browser/shots.py $(O)/perfkit \
		$(O)/tests/prog/flameapi $(O)/tests/prog/timelineapi $(O)/shots
	$(Q)cd $(O) && PYTHONPATH=$(CURDIR)/tests/browser python3 $(CURDIR)/tests/browser/looks.py \
		$(abspath $(O))/perfkit $(CURDIR) $(abspath $(O))/shots

# The pictures the README shows; check compares them with what its commands make.
pictures: all
	$(Q)$(O)/perfkit svg -q testdata/demo/demo.tar.zst -o docs/pictures/demo.svg
	$(Q)$(O)/perfkit tail -q --no-local --by activation --comm front-0,front-1 --over 2ms --rows 3 --details 1 \
		--svg docs/pictures/orders.svg testdata/orders/orders.tar.zst >/dev/null
	$(Q)PYTHONPATH=tests/browser python3 tests/browser/report_picture.py $(O)/perfkit docs/pictures

# The tables of a store; check compares the page.
schema: $(O)/tests/prog/schemadoc $(O)/tests/prog/toldforms
	$(Q)$(O)/tests/prog/schemadoc >docs/schema.md
	$(Q)$(O)/tests/prog/toldforms >docs/tail-forms.json

# Where the picture is, and how long all of it took; then the order book's answer.
START := $(shell date +%s)
demo: all
	$(Q)$(O)/perfkit svg -q testdata/demo/demo.tar.zst -o $(O)/demo.svg
	$(Q)echo "a flame graph of a web shop: $(O)/demo.svg, built and drawn in $$(($$(date +%s) - $(START))) s; open it in a browser" >&2
	$(Q)echo "and why one order in thirty takes 12 ms (README.md asks):" >&2
	$(Q)$(O)/perfkit tail -q --no-local --by activation --comm front-0,front-1 --over 2ms --rows 3 \
		--details 0 testdata/orders/orders.tar.zst >$(O)/demo.txt
	$(Q)sed '/^$$/q' $(O)/demo.txt
	$(Q)echo "(all of it: $(O)/demo.txt)" >&2

# --- the rest ----------------------------------------------------------------------------
DOCS := README.md LICENSE $(wildcard docs/*.md)
PICTURES := $(wildcard docs/pictures/README.md docs/pictures/*.svg docs/pictures/*.png docs/pictures/*.webp)
SHARE = $(DESTDIR)$(PREFIX)/share
# What the tutorials ask: their commands can be typed in $(PREFIX)/share/perfkit, too.
EXAMPLES := $(wildcard testdata/orders/*.tar.zst testdata/orders/*.c testdata/demo/*.tar.zst \
	testdata/demo/perf.data testdata/demo/*.c) $(shell find -L testdata/demo/symfs -type f | sort)
install: all $(O)/man/made $(COMPLETIONS)
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 $(addprefix $(SHARE)/doc/perfkit/docs/,pictures schema) \
		$(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions \
		$(SHARE)/fish/vendor_completions.d
	install -d $(addprefix $(SHARE)/perfkit/,$(sort $(dir $(EXAMPLES))))
	install -m 755 $(O)/perfkit $(DESTDIR)$(PREFIX)/bin/perfkit
	install -m 644 libtime/causes/causes.rules libtime/causes/mechanisms.rules libsym/name/frames.rules $(SHARE)/perfkit
	for f in $(EXAMPLES); do install -m 644 $$f $(SHARE)/perfkit/$$f || exit 1; done
	install -m 644 $(O)/man/*.1 $(SHARE)/man/man1
	install -m 644 $(filter-out docs/%,$(DOCS)) $(SHARE)/doc/perfkit
	install -m 644 $(filter docs/%,$(DOCS)) docs/tail-forms.json docs/store-questions.sql $(SHARE)/doc/perfkit/docs
	install -m 644 docs/schema/*.json $(SHARE)/doc/perfkit/docs/schema
	install -m 644 $(PICTURES) $(SHARE)/doc/perfkit/docs/pictures
	install -m 644 $(O)/completions/perfkit.bash $(SHARE)/bash-completion/completions/perfkit
	install -m 644 $(O)/completions/perfkit.zsh $(SHARE)/zsh/site-functions/_perfkit
	install -m 644 $(O)/completions/perfkit.fish $(SHARE)/fish/vendor_completions.d/perfkit.fish

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/perfkit $(SHARE)/man/man1/perfkit.1 \
		$(SHARE)/man/man1/perfkit-*.1 \
		$(SHARE)/bash-completion/completions/perfkit \
		$(SHARE)/zsh/site-functions/_perfkit \
		$(SHARE)/fish/vendor_completions.d/perfkit.fish
	rm -rf $(SHARE)/doc/perfkit $(SHARE)/perfkit

# What is handed out: the static program, its documents, the versions of all that is linked in it,
# and SHA256SUMS. The same sources and libraries give the same bytes, in any folder.
.PHONY: release
release:
	$(Q)MAKE='$(MAKE)' CC='$(CC)' sh packaging/release.sh $(O)/release

.PHONY: deb
deb: all $(O)/man/made $(COMPLETIONS)
	$(Q)MAKE='$(MAKE)' sh packaging/deb.sh $(O) $(VERSION)

# An RPM package (Debian builds one with its package rpm); without rpmbuild it says so.
.PHONY: rpm
rpm: all $(O)/man/made $(COMPLETIONS)
	$(Q)MAKE='$(MAKE)' sh packaging/rpm.sh $(O) $(VERSION)

format:
	clang-format -i $(foreach d,$(LAYERS) cmd tests,$(wildcard $(d)/*.[ch] $(d)/*/*.[ch])) \
		$(wildcard tests/unit/*/*.c)

clean:
	rm -rf $(O) $(O)-asan $(O)-tsan $(O)-fuzz $(O)-clang

distclean: clean
	rm -f config.mk config.log

help:
	@echo 'make            build $(O)/perfkit'
	@echo 'make demo       draw a bundled recording as $(O)/demo.svg, explain the waits of another'
	@echo 'make check      all tests; T=NAME one, or those whose name holds it'
	@echo 'make check-elsewhere  build, test, asan, tsan in bare roots of Debian 12 and 13 (R=RELEASES)'
	@echo 'make same       file, pipe, bundle and store give the same answers (minutes)'
	@echo 'make check-layers, check-house   rules about the sources; part of check'
	@echo 'make lines      how large each room is, and how long functions are'
	@echo 'make check-rules                 functions that causes.rules and frames.rules name; part of check'
	@echo 'make check-nomem  each verb with every allocation failing in turn (some minutes)'
	@echo 'make pictures   the pictures of the README, docs/pictures'
	@echo 'make schema     the tables of a store and the forms of tail, docs/schema.md, docs/tail-forms.json'
	@echo 'make shots      screenshots of every kind of picture into $$(O)/shots'
	@echo 'make bench      speed and memory, side by side with perf'
	@echo 'make readers    what reads exports in tests: from PyPI (needs python3-venv) and npm; READERS=all:'
	@echo '                ClickHouse and Spark, too'
	@echo 'make bench-record what recording costs, and whether one of a service answers alike: docs/recording-cost.md'
	@echo 'make bench-fleet  200 hosts as tables: size, times of each question, do engines agree?'
	@echo 'make truth20    records each planted cause N=20 times: is it named? (an hour)'
	@echo 'make exact      write anew the outputs that tests/cli/exact.sh compares'
	@echo 'make truth-compare  false alarms and power of compare (15 minutes)'
	@echo 'make truth-source are lines and instructions those of addr2line and objdump? (8 minutes)'
	@echo 'make truth-names is any name false? Programs that know their own stacks (10 minutes)'
	@echo 'make truth-incidents  are incidents of kinds without a rule explained? (5 minutes)'
	@echo 'make truth-holders  is the thread that held a lock named? (a minute)'
	@echo 'make truth      is time hidden that requests waited for? A table (15 minutes)'
	@echo 'make asan       make check under AddressSanitizer and UBSan'
	@echo 'make tsan       the verbs that have threads under ThreadSanitizer; tsan-check: all tests, too'
	@echo 'make tidy       clang-tidy with the checks of .clang-tidy, and macOS'"'"'s headers; any warning fails'
	@echo 'make analyze    gcc -fanalyzer; any warning fails'
	@echo 'make clang      build everything with clang; any warning fails'
	@echo 'make coverage   lines the tests reach, per library (T= chooses tests)'
	@echo 'make fuzz       each fuzz target for T=60 seconds, or F=NAME alone (clang)'
	@echo 'make install    into $$(DESTDIR)$$(PREFIX); uninstall removes it'
	@echo 'make static     $(O)/perfkit-static, which needs no libraries'
	@echo 'make static-arm64  the same for arm64 (any Debian architecture), cross-compiled'
	@echo 'make wasm       $(O)/wasm/perfkit.wasm, with Debian'"'"'s emscripten: perfkit on any laptop'
	@echo 'make page       $(O)/perfkit.html: it as one page'
	@echo 'make npm        $(O)/npm/: it as an npm package'
	@echo 'make check-s390x   the unit tests of another architecture, under qemu'
	@echo 'make release    static program, versions linked in, SHA256SUMS: the same bytes anywhere'
	@echo 'make check-release  builds it twice and compares'
	@echo 'make check-hardening  PIE, RELRO, stack protector and the like, by readelf'
	@echo 'make deb        a Debian package (needs dpkg-dev)'
	@echo 'make rpm        an RPM package (needs rpmbuild)'
	@echo 'make clean      remove what was built'
	@echo 'Variables: O=DIR (out-of-tree), V=1 (show commands), CFLAGS=..., LDFLAGS=...'

-include $(shell find $(O) -name '*.d' -type f 2>/dev/null)
