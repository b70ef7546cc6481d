# Needs python3 (3.11 or newer), make and git; everything else is installed into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY  := $(VENV)/.ready

.PHONY: help demo test test-environment test-pythons test-wide test-real check cover bench docs format install clean

help:
	@echo "make demo    run the example benchmark on the embedded demo model and show the result"
	@echo "make test    install what is needed, run all checks and all tests"
	@echo "make test-pythons       the tests that depend on the Python version, on every other installed one"
	@echo "make test-wide          the properties with TIMES (default 3) times the usual examples, drawn anew in each run"
	@echo "make test-environment   the command-line tests, with variables set that change what Python and commands print"
	@echo "make test-real   questions, tools, load and ranking against a real 135M-parameter model (compiles one of its servers first)"
	@echo "make check   ruff, mypy strict, import table"
	@echo "make cover   tests with coverage"
	@echo "make docs    write the manual's tables of settings from their declaration"
	@echo "make bench   speed, side by side with other tools (installs them into their own venvs)"

# What the program itself needs: quick to install, and all that a demo wants.
$(INSTALLED): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("benchwright needs Python 3.11 or newer; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server,excel]'
	touch $(INSTALLED)

# And what its tests, checks and benchmarks need. pip compiles 14,000 files one after another; all cores do it here.
$(READY): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable . --group dev
	$(BIN)/python -W ignore -c 'import compileall, sysconfig; compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2, workers=0)'
	touch $(READY)

# compileall: an editable install writes no byte code where PYTHONDONTWRITEBYTECODE is set,
# and every start would then pay for compiling the package.
install: $(READY)
	@$(BIN)/python -m compileall -q src

# A folder above the clone may hold records of its own; the demo's stay here, in .benchwright, which git ignores.
demo: $(INSTALLED)
	@$(BIN)/python -m compileall -q src
	$(BIN)/benchwright run examples/arithmetic/bench.py --model demo --workspace .
	@echo "The records of this run are in .benchwright in this clone."

check: install
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/pytest tests/test_house.py -n 0

test: check
	env TESTS_KEEP_ENVIRONMENT=1 BENCHWRIGHT_PLAIN=1 $(BIN)/pytest -q $(WITHOUT_FAST_PATHS)
	$(BIN)/pytest --ignore=tests/test_house.py  # which `check` has run

# What fast paths do must come out the same without them: replies, scores and files.
WITHOUT_FAST_PATHS := tests/engine/test_run_outcomes.py tests/engine/test_faulty_servers.py tests/endpoints/test_reply_reading.py tests/endpoints/test_streamed_replies.py tests/endpoints/test_fault_table.py \
  tests/reports/test_samples_parquet.py tests/scorers/test_number_reading.py tests/scorers/test_choice_extraction.py tests/scorers/test_yesno_scorers.py tests/promises/test_questions_by_command.py

# Variables of CI jobs, of unbuffered logs and of other places in the world: `make test` hides them from the tests.
test-environment: install
	env TESTS_KEEP_ENVIRONMENT=1 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 CI=true NO_COLOR=1 TERM=dumb TZ=XYZ-5:45 LC_ALL=C \
	  $(BIN)/pytest tests/cli tests/test_warm.py tests/promises/test_questions_by_command.py tests/promises/test_promises_by_command.py

# Installs into .venv/3.12, .venv/3.13 and so on. Some only: make test-pythons PYTHONS=3.13
test-pythons: install
	$(BIN)/python tests/on_other_pythons.py $(PYTHONS)

# Not part of CI, which must not fail by chance. One room, with more examples: make test-wide TIMES=20 TESTS=tests/scorers
TIMES ?= 3
test-wide: install
	env TESTS_WIDE=$(TIMES) $(BIN)/pytest -m hypothesis $(TESTS)

# A real model and its server: compiles for many minutes on first use, so it is not part of `make test`.
test-real: install
	$(BIN)/pytest tests/real --override-ini 'addopts=-q -n 0 --strict-markers'

cover: install
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 0
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered

bench: install
	$(BIN)/python -m benchmarks

docs: install
	$(BIN)/python tests/docs/settings_tables.py

format: install
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix src tests benchmarks examples

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
