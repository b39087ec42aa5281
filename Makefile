# Sluice: OData feeds from PostgreSQL. `make help` lists the targets.

BIN   := sluice
comma := ,
BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PKGS  := libpq libmicrohttpd libcjson cjose jansson libcrypto libcrypt zlib libzstd
PREFIX ?= /usr/local
VERSION := 0.1.0

CSTD := -std=c11 -D_POSIX_C_SOURCE=200809L -D_GNU_SOURCE
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wold-style-definition -Wcast-qual -Wcast-align -Wpointer-arith \
        -Wwrite-strings -Wformat=2 -Wundef -Wvla -Wswitch-enum -Wimplicit-fallthrough \
        -Wnull-dereference -Wdouble-promotion $(if $(WERROR),-Werror)
HARD := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer,-D_FORTIFY_SOURCE=3) \
        -fstack-protector-strong -fPIE
CFLAGS ?= -O2 -g
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
ALL_CFLAGS  = $(CSTD) $(WARN) $(HARD) -I. -DSLUICE_VERSION='"$(VERSION)"' $(PKG_CFLAGS) -MMD -MP \
              $(CFLAGS)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
PKG_LIBS    = $(shell pkg-config --libs $(PKGS)) -lpthread -lm

# `make V=1` shows the commands, otherwise only what is made is said.
say = $(if $(V),,@echo "  $(1) $@" &&)

# One archive a folder; what a folder may call is what its tests link.
objs = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)/*.c))
lib  = $(foreach f,$(1),$(BUILD)/lib$(f).a)
MAY_odata   := odata
MAY_config  := config
MAY_storage := storage odata
MAY_server  := server storage config odata
UNITS := odata config storage server
SOURCES := $(wildcard odata/*.c config/*.c storage/*.c server/*.c)

all: $(BUILD)/$(BIN) ## use: build the daemon

$(BUILD)/$(BIN): $(BUILD)/server/main.o $(call lib,server storage config odata)
	$(call say,LINK) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# What a fresh Debian 12 needs to build; what the demo adds, and the tests (their validators from npm
# run on any Node.js that is there); and what lint, coverage, fuzz and bench add.
DEPS       := gcc make pkg-config libc6-dev libmicrohttpd-dev libpq-dev libcjson-dev \
              libcjose-dev libjansson-dev libssl-dev zlib1g-dev libzstd-dev
DEPS_DEMO  := postgresql curl
DEPS_CHECK  = check libsubunit-dev python3 python3-yaml libxml2-utils zstd \
              $(if $(shell command -v npm),,nodejs npm)
DEPS_TOOLS := clang clang-format clang-tidy llvm cppcheck lcov wrk nginx-light
# The OASIS schemas are not ours to hand on; where a copy lies, $metadata is validated with it.
SHARED     ?= ../shared
ABNF       := $(SHARED)/corpus/abnf/cases.tsv
PG         := tests/support/with_postgres.sh

.SECONDEXPANSION:
$(BUILD)/lib%.a: $$(filter-out %/main.o,$$(call objs,$$*))
	@rm -f $@
	$(call say,AR) $(AR) rcs $@ $^

# tests/odata/lexer_test.c defines `Suite *lexer_suite(void)`; the runner's list is generated.
$(BUILD)/tests/%/suites.h: $$(wildcard tests/$$*/*_test.c) Makefile
	@mkdir -p $(@D)
	@for f in $(sort $(patsubst %_test.c,%,$(notdir $(wildcard tests/$*/*_test.c)))); do \
	    echo "SUITE($$f)"; done > $@
$(BUILD)/tests/%/run.o: tests/run.c $(BUILD)/tests/%/suites.h
	$(call say,CC) $(CC) $(ALL_CFLAGS) -DSUITES='"$(BUILD)/tests/$*/suites.h"' -c -o $@ $<
# Tests may let allocations fail: tests/support/failing_malloc.h.
WRAPPED := malloc calloc realloc strdup
$(BUILD)/test_%: $$(call objs,tests/$$*) $(BUILD)/tests/%/run.o $$(call objs,tests/support) \
                 $$(call lib,$$(MAY_$$*)) $$(call lib,odata)
	$(call say,LINK) $(CC) $(ALL_LDFLAGS) $(WRAPPED:%=-Wl$(comma)--wrap=%) -o $@ $(filter-out %.a,$^) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(shell pkg-config --libs check $(PKGS)) -lpthread -lm

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(ALL_CFLAGS) -c -o $@ $<

check: check-unit check-abnf check-integration check-docs ## test: run all tests

# Each folder's runner prints its own sum; the first that fails stops make.
check-unit: $(foreach u,$(UNITS),$(if $(wildcard tests/$(u)/*_test.c),check-$(u))) ## test: run the unit tests
# A fork of an instrumented process is slow, and a finding ends it either way: there all tests of a
# folder run in one process.
check-%: $(BUILD)/test_%
	$(if $(SAN),CK_FORK=no )$(if $(filter storage server,$*),$(PG) )$(BUILD)/test_$*

# Preloaded into the daemon, lets allocations fail: tests/integration/behaviour_memory.py.
$(BUILD)/fail_malloc.so: tests/integration/fail_malloc.c
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(CSTD) $(WARN) $(CFLAGS) -shared -fPIC -o $@ $<

check-integration: $(BUILD)/$(BIN) $(BUILD)/fail_malloc.so ## test: run the daemon against a real PostgreSQL (ONLY=regex, SHARED=folder)
	$(PG) python3 tests/integration/run.py --sluice $(BUILD)/$(BIN) --shared '$(SHARED)' \
	    $(if $(ONLY),--only '$(ONLY)')

check-docs: $(BUILD)/$(BIN) ## test: compare documents, Dockerfile and compose.yaml with what is there
	@$(BUILD)/$(BIN) --print-config-doc | diff -u docs/CONFIG.md - || \
	    { echo "docs/CONFIG.md is not what the settings say: run 'make docs'"; exit 1; }
	python3 tests/conformance.py
	python3 tests/docker/image_check.py $(BUILD)/$(BIN)

docs: $(BUILD)/$(BIN) ## work: print docs/CONFIG.md from the table of settings
	$(BUILD)/$(BIN) --print-config-doc > docs/CONFIG.md

tests: $(foreach u,$(UNITS),$(if $(wildcard tests/$(u)/*_test.c),$(BUILD)/test_$(u)))

demo: ## use: serve a throwaway database with sample data (PORT=8080)
	@loadtest/demo.sh

run: $(BUILD)/$(BIN) ## use: serve the database that libpq's variables name (ARGS=...)
	$(BUILD)/$(BIN) $(ARGS)

bench: $(BUILD)/$(BIN) ## work: measure against psql, pgbench and a static file (ARGS=...)
	$(PG) python3 loadtest/bench.py --sluice $(BUILD)/$(BIN) $(ARGS)

deps: ## use: install what building and the demo need (Debian, Ubuntu)
	@tests/support/install.sh $(DEPS) $(DEPS_DEMO)
deps-check: ## test: install what `make check` needs besides
	@tests/support/install.sh $(DEPS) $(DEPS_DEMO) $(DEPS_CHECK)
deps-tools: ## work: install what lint, coverage, fuzz and bench need besides
	@tests/support/install.sh $(DEPS) $(DEPS_DEMO) $(DEPS_CHECK) $(DEPS_TOOLS)

# A file is looked at again when its object is made again. clang-tidy 14 misjudges va_list when it is
# given several files in one run.
LINTED := $(SOURCES) $(wildcard tests/*.c tests/*/*.c loadtest/*.c loadtest/*/*.c)
lint: format-check ## work: look for faults without running: clang-tidy, cppcheck, who includes whom
	tests/layers.sh
	$(MAKE) -j2 $(LINTED:%.c=$(BUILD)/lint/%.ok)
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -I. \
	    --enable=warning,performance,portability $(SOURCES)
tidy = mkdir -p $(@D) && clang-tidy --quiet --warnings-as-errors='*' $(1) -- $(CSTD) -I. \
       $(PKG_CFLAGS) -DSLUICE_VERSION='"$(VERSION)"' -DSUITES='"$(BUILD)/tests/odata/suites.h"' \
       2>/dev/null && touch $@
$(BUILD)/lint/%.ok: %.c $(BUILD)/%.o .clang-tidy tests/.clang-tidy loadtest/.clang-tidy
	$(call say,LINT) $(call tidy,$<)
# What tests/run.c includes is made for each folder; any of them will do.
$(BUILD)/lint/tests/run.ok: $(BUILD)/tests/odata/run.o
	$(call say,LINT) $(call tidy,tests/run.c)

coverage: ## test: unit and integration tests with line counts, into build-coverage/html
	$(MAKE) BUILD=build-coverage CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage check-unit \
	    check-integration
	lcov --quiet --capture --directory build-coverage --output-file build-coverage/all.info
	lcov --quiet --extract build-coverage/all.info "$(CURDIR)/config/*" "$(CURDIR)/odata/*" \
	    "$(CURDIR)/storage/*" "$(CURDIR)/server/*" --output-file build-coverage/ours.info
	genhtml --quiet build-coverage/ours.info --output-directory build-coverage/html
	lcov --summary build-coverage/ours.info

# Every tests/fuzz/X_fuzz.c is a target; its seeds are in tests/fuzz/seeds/X and, where they lie, the
# cases of the OASIS grammar tests; what it finds goes to build-fuzz/corpus/X.
FUZZ_SECONDS ?= 30
FUZZ := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
fuzz: ## test: run every parser on invented input (FUZZ_SECONDS=30 each)
	$(MAKE) CC=clang BUILD=build-fuzz SAN=fuzzer-no-link,address,undefined fuzz-run
fuzz-run: $(FUZZ:%=fuzz-run-%)
# A group of the cases for each parser that reads it.
$(BUILD)/abnf-seeds: tests/fuzz/abnf_seeds.awk $(wildcard $(ABNF))
	@mkdir -p $@
	@if [ -f '$(ABNF)' ]; then awk -v to=$@ -f $< '$(ABNF)'; fi
fuzz-run-%: $(BUILD)/fuzz_% $(BUILD)/abnf-seeds
	@mkdir -p $(BUILD)/corpus/$* $(BUILD)/abnf-seeds/$*
	$(BUILD)/fuzz_$* -max_total_time=$(FUZZ_SECONDS) -timeout=5 -rss_limit_mb=1024 \
	    -print_final_stats=1 $(BUILD)/corpus/$* $(BUILD)/abnf-seeds/$* \
	    $(wildcard tests/fuzz/seeds/$*)
$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/%_fuzz.o $(BUILD)/tests/support/shop_model.o \
    $$(call lib,server storage config odata)
	$(call say,LINK) $(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) \
	    -Wl,--end-group $(PKG_LIBS)

install: $(BUILD)/$(BIN) ## use: install the daemon below DESTDIR and PREFIX
	install -D -m 755 $(BUILD)/$(BIN) $(DESTDIR)$(PREFIX)/bin/$(BIN)

FORMATTED := $(wildcard */*.[ch] */*/*.[ch])
format: ## work: format the sources
	clang-format -i $(FORMATTED)
format-check: ## work: fail when a source is not formatted
	clang-format --dry-run -Werror $(FORMATTED)

clean: ## use: remove what was built
	rm -rf build build-*

help: ## use: show this list
	@for group in 'use:To use it:' 'test:To test it:' 'work:To work on it:'; do \
	    echo "$${group#*:}"; \
	    sed -nE "s/^([a-z-]+):.*## $${group%%:*}: (.*)/\1\t\2/p" Makefile | LC_ALL=C sort | \
	        awk -F '\t' '{printf "  %-18s %s\n", $$1, $$2}'; \
	done

.PHONY: all bench check check-docs check-integration check-unit clean coverage demo deps deps-check \
        deps-tools docs format format-check fuzz fuzz-run help install lint run tests
.PRECIOUS: $(BUILD)/%.o $(BUILD)/tests/%/suites.h $(BUILD)/test_%
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# Runs the cases of the OASIS grammar tests against the parsers, where a copy of them lies.
check-abnf: $(BUILD)/abnf-check ## test: run the OASIS grammar tests (SHARED=folder)
	@if [ -f '$(ABNF)' ]; then $< '$(ABNF)' tests/abnf/expected_differences.tsv; \
	    else echo 'abnf: skipped, $(ABNF) is not there'; fi
.PHONY: check-abnf

$(BUILD)/abnf-check: $(BUILD)/tests/abnf/abnf_check.o $(call lib,odata)
	$(call say,LINK) $(CC) $(ALL_LDFLAGS) -o $@ $^

# The serializer alone: no database, no HTTP. Calls of malloc are counted by wrapping them.
$(BUILD)/bench_serializer: $$(call objs,loadtest/serializer) $$(call lib,storage odata)
	$(call say,LINK) $(CC) $(ALL_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc -o $@ \
	    $(filter-out %.a,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(PKG_LIBS)
bench-serializer: $(BUILD)/bench_serializer ## work: measure JSON writing alone, and check its bytes
	$(BUILD)/bench_serializer
.PHONY: bench-serializer
