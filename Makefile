# Two commands do everything on a fresh machine: `make demo` and `make test`. `make docs` builds the site.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
SITE   := $(VENV)/.docs-installed
TOOLS  := $(VENV)/.release-installed
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e

.PHONY: demo test lint unit test-app test-wheel docs coverage bench release clean test-long

demo: $(STAMP)
	$(BIN)/nefty demo --out demo

test: lint unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

# Modules are compiled once and kept, also where the environment says otherwise: the tests start dozens of processes.
unit: export PYTHONDONTWRITEBYTECODE =
unit: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

# The app in a real browser, the long tests included: demo and camera recordings, 500 MB, pictures of every page.
test-app: $(STAMP)
	NEFTY_TEST_APP=1 $(BIN)/pytest tests/app --durations=10

# The wheel: built, checked, installed into an environment of its own, and used from there.
test-wheel: $(TOOLS)
	NEFTY_TEST_WHEEL=1 $(BIN)/pytest tests/wheel

# The site, in docs/_build/html/index.html. The gallery is executed; a warning is an error; nothing is downloaded.
docs: $(SITE)
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

# Lines and branches that the tests run; htmlcov/index.html shows them. There is no threshold.
coverage: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --cov --cov-report=term --cov-report=html

# Tests that take long: tiles on workers, batches that are stopped again and again, heatings that last, implants, and
# 100,000 damaged files.
LONG = tests/inversion/tiles tests/inversion/test_lasting_heatings.py tests/batches tests/bench/studies \
	tests/data/test_fuzz.py
test-long: $(STAMP)
	NEFTY_TEST_LONG=1 $(BIN)/pytest $(LONG) --durations=10

bench: $(STAMP)
	for name in profile memory growth paper; do $(BIN)/nefty bench run $$name || exit 1; done

# All checks, then dist/ with the wheel and the source, and the tag. Uploading and pushing the tag are left to you.
release: test test-wheel docs
	$(BIN)/python .ci/release.py

# The whole set-up. Constraints pin every version, so that two machines get the same packages.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) ".[dev]"
	touch $@

$(SITE): $(STAMP)
	$(INSTALL) ".[dev,docs]"
	touch $@

$(TOOLS): $(STAMP)
	$(INSTALL) ".[dev,release]"
	touch $@

clean:
	rm -rf $(VENV) demo bench-results dist docs/_build docs/auto_examples htmlcov .pytest_cache .ruff_cache
