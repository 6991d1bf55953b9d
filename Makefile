# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test lint unit test-app bench clean

demo: $(STAMP)
	$(BIN)/nefty demo --out demo

test: lint unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile

# The app in a real browser, the long tests included: demo and camera recordings, 500 MB, pictures of every page.
test-app: $(STAMP)
	NEFTY_TEST_APP=1 $(BIN)/pytest tests/app --durations=10

bench: $(STAMP)
	for name in profile memory growth paper; do $(BIN)/nefty bench run $$name || exit 1; done

# The whole set-up. Constraints pin every version, so that two machines get the same packages.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) demo bench-results .pytest_cache .ruff_cache
