# SPDX-License-Identifier: Apache-2.0
# What a person types. The work is in scripts/ and in the CMake presets.
#   make demo     from a fresh clone to a flow compared with the literature
#   make check    everything we hold ourselves to
#   make build    leaves the program at build/lamina
JOBS ?= $(shell nproc)

demo: build
	@scripts/demo.sh

check:
	@scripts/check.sh

build:
	@mkdir -p build
	@scripts/setup.sh
	@cmake --preset release > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) -- --quiet
	@ln -sfn release/lamina build/lamina

install: build
	@cmake --install build/release

format:
	@scripts/format.sh

tidy: build
	@scripts/tidy.sh

clean:
	@rm -rf build

.PHONY: demo check build install format tidy clean
