# `make` alone prints what there is to do.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
export PATH := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/vivarium/tools/bin:$(HOME)/.cargo/bin:$(PATH):/usr/sbin:/sbin

mvn := scripts/maven
cargo := cd guest && cargo

# The inputs of the distribution: a change to one of them rebuilds it.
shipped := guest model core json server sdk third-party cli scripted demo console dist workers/src
sources := pom.xml scripts/zip-worker $(shell find $(shipped) .mvn \( -name target -o -name __pycache__ -o -name node_modules -o -path console/dist -o -path console/e2e \) -prune -o -type f -print)

.PHONY: help
help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install what is missing (Debian); instant when nothing is
	@scripts/setup

.PHONY: build
build: setup build/vivarium/.assembled ## build the jars, the guest, bin/viv and its AOT caches
	@scripts/train-aot

build/vivarium/.assembled: $(sources) LICENSE NOTICE scripts/assemble scripts/viv scripts/find-java.sh
	@$(mvn) --quiet package -Dmaven.test.skip=true --projects dist --also-make
	@scripts/assemble
	@touch $@

.PHONY: dist
dist: build ## write build/repository, a Maven repository with the Java SDK and its BOM
	@$(mvn) --quiet package -Dmaven.test.skip=true --projects sdk-local --also-make
	@scripts/maven-repository

.PHONY: run
run: build ## build, then start the server in the foreground
	@exec bin/viv serve

.PHONY: test
test: setup ## run every check and every test
	@scripts/setup tests
	@$(mvn) --quiet spotless:check
	@$(MAKE) build
	@# Three process groups run in parallel, because they mostly wait for sandboxes and programs: the download of the
	@# worker image and the build of Gitea, the tests and linters that Maven does not run, and Maven. The trap ends all
	@# their processes. The output of the second group is printed after that of Maven. A failed test does not stop Maven,
	@# so that one run finds the failures of all modules; scripts/failures then fails. The format was checked before.
	@others=$$(mktemp); since=$$(mktemp); set -m; { nice scripts/worker-image; nice scripts/gitea; } >/dev/null & image=$$!; \
	nice scripts/test-others >"$$others" 2>&1 & beside=$$!; $(mvn) verify -Dmaven.test.failure.ignore -Dspotless.check.skip -Dvivarium.distribution=$(CURDIR)/build/vivarium & maven=$$!; set +m; \
	trap 'kill -- -$$image -$$beside -$$maven 2>/dev/null || true; rm -f "$$others" "$$since"' EXIT; \
	status=0; wait $$maven || status=$$?; wait $$beside || status=$$?; cat "$$others"; \
	scripts/failures "$$since" || status=$$?; exit $$status

.PHONY: test-guest
test-guest: setup
	@$(cargo) test --quiet --locked
	@scripts/check-aarch64

.PHONY: test-console
test-console: ## tests and size of the console
	@console/scripts/build
	@cd console && npm run --silent test -- --silent --reporter=dot && npm run --silent size

.PHONY: test-browser
test-browser: build ## the console in a real browser, in front of a real server
	@command -v chromium-headless-shell >/dev/null || scripts/setup tests
	@console/scripts/install
	@cd console && npm run --silent e2e -- --reporter=dot

.PHONY: test-workers
test-workers: build ## test the workers with the real agent SDKs, fetched on first use
	@scripts/test-workers

.PHONY: lint
lint: ## every linter, without the tests
	@scripts/setup lint
	@$(mvn) --quiet test-compile spotless:check
	@scripts/lint

.PHONY: format
format: setup ## format the Java, the Rust and the console
	@scripts/format

.PHONY: bench
bench: build ## measure, print the table and write it as JSON
	@$(mvn) --quiet package -Dmaven.test.skip=true --projects bench --also-make
	@scripts/bench $(ARGS)

.PHONY: gvisor
gvisor: ## install a current runsc with Go, for VIV_RUNTIME=runsc and its tests
	@scripts/gvisor

.PHONY: image
image: build ## make the debian root file system for sandboxes
	@bin/viv image build

.PHONY: clean
clean: ## remove everything that was built
	@$(mvn) --quiet clean
	@rm -rf build bin
