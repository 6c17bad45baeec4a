# make demo       shows tabd at work on a small site served from this tree
# make demo URL=https://example.org
# make site       serves that site on 127.0.0.1:8080 (PORT)
# make test       installs what the tests need and runs them all
# make install    binary, manual page and systemd user units (PREFIX=/usr/local)
# make lint       formatting, clippy, docs, types of the page scripts, units
# make bench      times of the usual calls
# make schema     takes the protocol description anew from the installed browser
# make clean

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

CARGO ?= cargo
# Works without a network once the crates are there; the lock file decides the versions.
CARGO_FLAGS ?= --locked
URL ?=
PORT ?= 8080

PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man/man1
# Where a user manager looks: system-wide for root, else the user's own directory.
UNITDIR ?= $(if $(filter $(HOME)/%,$(PREFIX)),$(or $(XDG_CONFIG_HOME),$(HOME)/.config)/systemd/user,$(PREFIX)/lib/systemd/user)

# Case folders and web-platform-tests pages may lie beside this tree; make test then runs them too.
SHARED ?= ../shared
# The share of names and roles (not tentative) that must be right, in percent.
WPT_NAMES ?= 99.5
WPT_ROLES ?= 99.5

TYPESCRIPT := 5.9.3

.PHONY: help demo site release test test-rust test-shared lint units install uninstall bench schema clean deps-build deps-browser deps-test deps-check

help:
	@sed -n '/^# make/s/^# /  /p' Makefile

demo: deps-build deps-browser release target/site
	@scripts/demo $(if $(URL),'$(subst ','\'',$(value URL))')

site: target/site
	@target/site tests/site $(PORT)

release: deps-build
	$(CARGO) build --release $(CARGO_FLAGS) --bin tabd

# Standard library only: compiled on its own in a second.
target/site: examples/site.rs | deps-build
	@mkdir -p target
	rustc --edition 2024 -O -o $@ $<

# Debug builds: what optimising costs to compile is more than what the tests would gain.
test: test-rust test-shared

test-rust: deps-build deps-browser deps-test
	$(CARGO) test $(CARGO_FLAGS)

test-shared: test-rust
	@if [ ! -e '$(SHARED)/cases/run.mjs' ]; then echo 'make: no case folders at $(SHARED); skipped'; \
	elif ! command -v node >/dev/null; then echo 'make: no node; the case folders at $(SHARED) are skipped'; \
	else scripts/cases '$(SHARED)' target/debug/tabd && scripts/wpt '$(SHARED)' target/debug/tabd $(WPT_NAMES) $(WPT_ROLES); fi

lint: deps-build deps-check units
	$(CARGO) fmt --check
	$(CARGO) clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(CARGO_FLAGS) --no-deps --document-private-items
	npx -y -p typescript@$(TYPESCRIPT) tsc --noEmit -p js
	@for script in $$(find target/debug/build -path '*/tabd-*/out/*.js'); do \
		echo "node --check $$script"; node --check "$$script" || exit 1; done
	@for script in .ci/run scripts/*; do bash -n "$$script" || exit 1; done

# The units as `make install` lays them down, with a stand-in for the binary.
units: deps-test
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	install -m 755 /bin/true "$$dir/tabd" && \
	sed 's|^ExecStart=tabd|ExecStart='"$$dir"'/tabd|' systemd/tabd.service >"$$dir/tabd.service" && \
	cp systemd/tabd.socket "$$dir/" && \
	echo 'systemd-analyze --user verify tabd.socket tabd.service' && \
	mkdir -m 700 "$$dir/run" && \
	said=$$(XDG_RUNTIME_DIR="$$dir/run" systemd-analyze --user --man=no verify "$$dir/tabd.socket" "$$dir/tabd.service" 2>&1) || { echo "$$said"; exit 1; }; \
	if grep -F tabd. <<<"$$said"; then exit 1; fi

install: release
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)' '$(DESTDIR)$(UNITDIR)'
	install -m 755 target/release/tabd '$(DESTDIR)$(BINDIR)/tabd'
	target/release/tabd help --man >target/tabd.1
	install -m 644 target/tabd.1 '$(DESTDIR)$(MANDIR)/tabd.1'
	install -m 644 systemd/tabd.socket '$(DESTDIR)$(UNITDIR)/tabd.socket'
	sed 's|^ExecStart=tabd|ExecStart=$(BINDIR)/tabd|' systemd/tabd.service >target/tabd.service
	install -m 644 target/tabd.service '$(DESTDIR)$(UNITDIR)/tabd.service'

uninstall:
	rm -f '$(DESTDIR)$(BINDIR)/tabd' '$(DESTDIR)$(MANDIR)/tabd.1' \
		'$(DESTDIR)$(UNITDIR)/tabd.socket' '$(DESTDIR)$(UNITDIR)/tabd.service'

bench: deps-build deps-browser
	$(CARGO) bench $(CARGO_FLAGS)

# cdp-schema/protocol.json from the installed Chromium; see the diff before committing it.
schema:
	cdp-schema/fetch

clean:
	$(CARGO) clean

deps-build:
	@scripts/install-deps build

deps-browser:
	@scripts/install-deps browser

deps-test:
	@scripts/install-deps test

deps-check:
	@scripts/install-deps check
