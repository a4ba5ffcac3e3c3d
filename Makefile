# The two commands of the README are `make studio` and `make test`. Each sets up what it needs in the checkout (.venv and
# frontend/node_modules) on its first call; later calls see that nothing changed and start at once.

# The newest supported Python that is found, sought once and only when a recipe needs it; say PYTHON=... for another.
PYTHON ?= $(eval PYTHON := $$(shell sh scripts/find_python.sh))$(PYTHON)
BIN := .venv/bin
NODE := $(BIN)/python scripts/node.py
PYTEST := $(BIN)/pytest -n 2 --dist loadfile
# More for the program a target runs: make studio ARGS="--port 9000", make unit ARGS=tests/motion
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help studio test checks demo proof fuzz compat newest bench docs pictures clean lock sbom notebooks wheel format lint types unit frontend browser python python-dev node pages

help:
	@echo "make studio   set up, then open the studio in a browser"
	@echo "make test     set up, then run every check that decides whether a change is right"
	@echo "make demo     run a scene without a browser: certificate, data and picture in out/"
	@echo "make proof    the long runs"
	@echo "make fuzz     damaged formulas, scenes, messages and run files for some minutes"
	@echo "make compat   test the oldest and the newest supported Python, each with its locked packages"
	@echo "make newest   test the newest packages of the index, whatever the lock says"
	@echo "make notebooks  try the notebook views in JupyterLab and marimo"
	@echo "make bench    measure against peers"
	@echo "make docs     build the site into site/"
	@echo "make pictures make the studio's pictures in docs/images again"
	@echo "make wheel    build the wheel into dist/"
	@echo "make format   put Python and frontend files in their standard form"
	@echo "make lock     write the hashed requirements files anew"
	@echo "make sbom     list all locked packages in dist/holonomy.cdx.json (CycloneDX)"
	@echo "make clean    remove all that these commands made"

# ── Set-up ───────────────────────────────────────────────────────────────────────────────────────
python:
	@$(PYTHON) scripts/environment.py run

python-dev:
	@$(PYTHON) scripts/environment.py dev

node: python
	@$(NODE) install

pages: python
	@$(NODE) build

# ── Use ──────────────────────────────────────────────────────────────────────────────────────────
studio: pages
	@$(BIN)/holonomy studio $(ARGS)

demo: python
	@mkdir -p out
	$(BIN)/holonomy run examples/double.toml --out out --force $(ARGS)

# ── Checks ───────────────────────────────────────────────────────────────────────────────────────
# Tests run in two processes: threads of OpenBLAS would wait for each other by spinning, a sixth of the processor's time.
test checks unit proof compat newest: export OPENBLAS_NUM_THREADS = 1
# Python keeps the bytecode of the package between processes, whatever the environment says.
lint test checks unit proof compat newest: export PYTHONDONTWRITEBYTECODE =

test: lint checks

# What takes seconds comes first: form, lengths of files and functions, who may import whom.
lint: python-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pytest -q tests/project/test_lengths.py tests/project/test_rooms.py

types: python-dev
	$(BIN)/basedpyright

# Two at a time; in most folders without run-time types and everywhere with XLA's quick compilation: `make proof` checks
# types, with the compilation that users get, as `make newest` does. Node and the pages are set up among them, and the
# browser tests run among them in two halves, each with a studio and a browser of its own.
checks: python-dev
	@$(BIN)/python scripts/checks.py $(ARGS)

unit: python-dev node pages
	$(PYTEST) -m "not proof and not compat" $(ARGS)

frontend: python-dev node
	$(NODE) npm run check
	$(NODE) npm test

browser: python-dev node pages
	$(NODE) npm run browser

docs: python-dev node
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

proof: python-dev pages
	$(PYTEST) --dist worksteal --timeout 900 -m proof $(ARGS)

# Each of four kinds of input for SECONDS: formulas, scenes, messages, run files.
SECONDS ?= 60
fuzz: python-dev
	$(BIN)/python -W ignore -m tests.fuzz $(SECONDS) $(ARGS)

# The pages first: examples in the documents use the viewer that is built with them.
compat: pages
	@$(PYTHON) scripts/compat.py locked $(ARGS)

newest: pages
	@$(PYTHON) scripts/compat.py newest $(ARGS)

# The studio's pictures in docs/images; make pictures ARGS="studio_dark studio_phone" for some.
pictures: python-dev node pages
	$(NODE) npm run --silent pictures -- $(ARGS)

# The notebook views in a real JupyterLab and in marimo; both are installed into .cache.
notebooks: python-dev node pages
	@$(BIN)/python scripts/notebooks.py

bench: python-dev node pages
	$(BIN)/python scripts/bench.py $(ARGS)

# ── Housekeeping ─────────────────────────────────────────────────────────────────────────────────
wheel: python
	$(BIN)/python -m holonomy.studio.compile.preset_code
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

format: python-dev node
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(NODE) npm run format

lock:
	@$(PYTHON) scripts/lock.py $(ARGS)

sbom:
	@$(PYTHON) scripts/sbom.py $(ARGS)

clean:
	rm -rf .venv .cache site out dist build .pytest_cache .ruff_cache .hypothesis
	rm -rf frontend/node_modules frontend/browser/shots src/holonomy/studio/static
	find src tests scripts benchmarks examples -name __pycache__ -prune -exec rm -rf {} +
