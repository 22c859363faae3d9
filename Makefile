# make demo | test | test-long | docs | bench | bench-large | lint | format | lock
PYTHON ?= python3
BIN := .venv/bin
DEMO := runs/demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CPU_BUILD := https://download.pytorch.org/whl/cpu

.PHONY: demo test browser test-long docs bench bench-large lint format lock clean

# The environment, from the lock file; made again when that changes. Without an NVIDIA GPU, torch's CPU build is a tenth
# as large as the default one.
.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "ncgnn needs Python 3.11 or newer: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@command -v nvidia-smi > /dev/null \
	  || $(PIP) --no-deps --timeout 10 --retries 0 --index-url $(CPU_BUILD) $$(grep '^torch==' requirements.lock) 2> /dev/null \
	  || echo "PyTorch's CPU builds are out of reach: taking the default build"
	$(PIP) -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

demo: .venv/installed
	@rm -rf $(DEMO)
	@$(BIN)/python -m ncgnn.cli.demo $(DEMO)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src tests

# A process for each core, with a thread each.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --cov --cov-report=term

# Pages are tested in a browser; without one, and without the right to install it, those tests skip themselves.
browser:
	@command -v chromium > /dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; } \
	  || echo "no chromium: install it to test pages in a browser"

test-long: .venv/installed browser
	OMP_NUM_THREADS=1 $(BIN)/pytest -m long --numprocesses auto --dist worksteal

# The pages of docs/ and the reference of the Python interface, as a site that opens without a server.
docs: .venv/installed
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning docs build/site
	@echo "build/site/index.html"

# For two cores that have nothing else to do; writes results/benchmarks and docs/performance.
bench: .venv/installed
	$(BIN)/python -m benchmarks

bench-large: .venv/installed
	$(BIN)/python -m benchmarks --large

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Pins what is installed in .venv now. Local version suffixes (+cpu) are cut, so that any build of a version will do.
lock: .venv/installed
	{ echo "# What is tested, pinned; written by 'make lock'."; \
	  $(BIN)/python -m pip freeze --exclude-editable --exclude ncgnn | sed 's/+cpu$$//'; } > requirements.lock.new
	mv requirements.lock.new requirements.lock

clean:
	rm -rf .venv runs build
