# What a developer does with this package; every target is a script in tools/.
# 'make help' lists them.

SHELL := bash
MINUTES ?= 1
BENCH ?=

.PHONY: help demo test test-all check check-cran cluster-check lint document site bench papers gpu-bundle valgrind fuzz tarball tarball-check cran binary image deps install clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: ## install what is missing, then learn a network from the bundled data
	@tools/install-deps run
	@tools/install-package
	@. tools/common.sh && Rscript inst/examples/sachs.R demo-output

test: ## every test: Rust, R, lint, generated files, R CMD check
	@tools/install-deps test
	@tools/test

test-all: ## what make test leaves to the night, too: kernels compiled, the R package built as users build it
	@tools/install-deps test
	@PCGPU_TEST_ALL=1 tools/test

check: ## R CMD build and R CMD check, tests included
	@tools/install-deps test
	@tools/check

check-cran: ## R CMD check --as-cran on the source package for CRAN, from the crates that it carries
	@tools/install-deps cran
	@tools/check-cran

cluster-check: ## searches on workers: sockets, MPI, BiocParallel, future, a real Slurm (as root, on Debian)
	@tools/install-deps test
	@tools/cluster-check

lint: ## cargo fmt, clippy, help pages, spelling
	@tools/lint

document: ## write R/extendr-wrappers.R, NAMESPACE and man/ again
	@tools/install-deps test
	@tools/document

site: ## the package's site, in site/: vignettes, help pages, what was measured, by pkgdown
	@tools/install-deps site
	@tools/site

bench: ## time and compare with pcalg (make bench BENCH="nci60 --peer=no")
	@tools/install-deps run
	@tools/install-package
	@. tools/common.sh && Rscript bench/bench.R $(BENCH)

papers: ## pack into .gpu/papers/ what repeats the papers' experiments on a GPU machine
	@tools/papers-bundle

gpu-bundle: ## pack into .gpu/ what tools/gpu-check.sh tests and times on a GPU machine
	@tools/install-deps test
	@tools/gpu-bundle

valgrind: ## the core's tests under valgrind's memcheck
	@tools/install-deps valgrind
	@tools/valgrind

fuzz: ## ill-formed input at the Rust boundary (make fuzz MINUTES=10)
	@tools/install-deps run
	@tools/install-package
	@. tools/common.sh && Rscript tools/fuzz/fuzz.R $(MINUTES)

tarball: ## the source package that others install, with its crates and vignettes
	@tools/install-deps test
	@tools/tarball

tarball-check: ## likewise, installed without a network and with an empty home
	@tools/install-deps test
	@tools/tarball --try

cran: ## the source package for CRAN, in cran/: without machine code of GPUs
	@tools/install-deps test
	@tools/tarball --cran

image: ## the container image pcgpu:latest, with the command line, by docker, podman or buildah
	@packaging/docker/build

binary: ## the package for this platform without Rust, tried where there is no cargo
	@tools/install-deps test
	@tools/binary --try

deps: ## install what building and testing need
	@tools/install-deps test

install: ## build, and install into the project's own library, .Rlib
	@tools/install-package

clean: ## remove everything that was built
	rm -rf .Rlib .check .gpu cran site demo-output pcgpu_*.tar.gz src/Makevars src/*.o src/*.so src/.cargo src/vendor src/rust/target
