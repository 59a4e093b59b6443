# Short names for what the presets and scripts do. `make` builds; `make install` installs. Only `make demo`,
# `make test` and `make check-all` install packages; the others report what is missing.
PREFIX ?= /usr/local
SECONDS ?= 600
.PHONY: all demo test check-all bench targets install fuzz format lint cli-accept clean

all:
	@scripts/setup --check --build
	@cmake --preset install >/dev/null
	@cmake --build --preset install
install: all
	@cmake --install build/install --prefix $(PREFIX)
demo:
	@scripts/demo
test:
	@scripts/test dev asan
check-all:
	@scripts/check-all $(SECONDS)
bench:
	@scripts/setup --check
	@cmake --preset release >/dev/null
	@cmake --build --preset release
	@bench/run.sh build/release
targets:
	@scripts/setup --check --oracles
	@cmake --preset release >/dev/null
	@cmake --build --preset release
	@/usr/bin/python3 bench/peers/fetch.py
	@bench/run.sh targets
fuzz:
	@scripts/fuzz $(SECONDS)
format:
	@scripts/lint --fix
lint:
	@scripts/lint
cli-accept:
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target wte_cli
	@python3 tests/cli/run.py --accept --wte build/dev/wte tests/cli/*/*.sh
clean:
	@cmake -E rm -rf build
