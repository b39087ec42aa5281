# Sluice: OData feeds from PostgreSQL. `make help` lists the targets.

BIN   := sluice
comma := ,
BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PKGS  := libpq libmicrohttpd libcjson
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

# One archive a folder; what a folder may call is what its tests link.
objs = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)/*.c))
lib  = $(foreach f,$(1),$(BUILD)/lib$(f).a)
MAY_odata   := odata
MAY_config  := config
MAY_storage := storage odata
MAY_server  := server storage config odata
UNITS := odata config storage server

all: $(BUILD)/$(BIN) ## build the daemon

$(BUILD)/$(BIN): $(BUILD)/server/main.o $(call lib,server storage config odata)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

.SECONDEXPANSION:
$(BUILD)/lib%.a: $$(filter-out %/main.o,$$(call objs,$$*))
	@rm -f $@
	$(AR) rcs $@ $^

# tests/odata/lexer_test.c defines `Suite *lexer_suite(void)`; the runner's list is generated.
$(BUILD)/tests/%/suites.h: $$(wildcard tests/$$*/*_test.c) Makefile
	@mkdir -p $(@D)
	@for f in $(sort $(patsubst %_test.c,%,$(notdir $(wildcard tests/$*/*_test.c)))); do \
	    echo "SUITE($$f)"; done > $@
$(BUILD)/tests/%/run.o: tests/run.c $(BUILD)/tests/%/suites.h
	$(CC) $(ALL_CFLAGS) -DSUITES='"$(BUILD)/tests/$*/suites.h"' -c -o $@ $<
$(BUILD)/test_%: $$(call objs,tests/$$*) $(BUILD)/tests/%/run.o $$(call objs,tests/support) \
                 $$(call lib,$$(MAY_$$*)) $$(call lib,odata)
	$(CC) $(ALL_LDFLAGS) -o $@ $(filter-out %.a,$^) -Wl,--start-group $(filter %.a,$^) \
	    -Wl,--end-group $(shell pkg-config --libs check $(PKGS)) -lpthread -lm

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

check-unit: $(foreach u,$(UNITS),$(if $(wildcard tests/$(u)/*_test.c),check-$(u))) ## run the unit tests
check-%: $(BUILD)/test_%
	$(if $(filter storage server,$*),tests/support/with_postgres.sh )$(BUILD)/test_$*

format: ## format the sources
	clang-format -i $(wildcard */*.[ch] tests/*/*.[ch] tests/*.[ch])
format-check: ## fail when a source is not formatted
	clang-format --dry-run -Werror $(wildcard */*.[ch] tests/*/*.[ch] tests/*.[ch])

clean: ## remove what was built
	rm -rf build build-*

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: all check-unit format format-check clean help
.PRECIOUS: $(BUILD)/%.o $(BUILD)/tests/%/suites.h $(BUILD)/test_%
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# Runs the cases of a grammar test suite (TSV) against the URL parsers.
$(BUILD)/abnf-check: $(BUILD)/tests/abnf/abnf_check.o $(call lib,odata)
	$(CC) $(ALL_LDFLAGS) -o $@ $^
