# make book       train, execute and render the companion into _build/html
# make pdf        print it, with Chromium, to _build/amol.pdf
# make wheel      pack the library alone, amol/, into build/wheel
# make test       run the tests, but the slow ones
# make test-slow  run those: whole builds, forks, faults
# make test-book  look at the built book in a browser
# make test-arm   train on an emulated ARM64 and compare bits (Debian, as root)
# make bench      time the training engine against usual loops
# make lab        edit the notebooks in JupyterLab
# make strip      take outputs out of the notebooks and bring each pair in step
# make lint       check style, and that notebooks carry no outputs
# make lock       pin the versions that .venv holds
# make clean      delete everything made, but .venv

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
BIN := .venv/bin/python
INSTALLED := .venv/installed
LAB := .venv/lab
TESTS := OMP_NUM_THREADS=1 $(BIN) -m pytest --numprocesses 2 --dist loadfile
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: book pdf wheel test test-slow test-book test-arm bench lab strip lint lock linkcheck clean

book: $(INSTALLED)
	$(BIN) -m companion build

pdf: book
	$(BIN) -m companion pdf

wheel: $(INSTALLED)
	@rm -rf amol/build build/wheel  # setuptools packs whatever an earlier build left there
	$(BIN) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel ./amol

test: $(INSTALLED)
	$(TESTS) -m "not book and not slow"

test-slow: $(INSTALLED)
	$(TESTS) -m "slow and not book"

test-book: $(INSTALLED)
	$(BIN) -m pytest -m book

test-arm: $(INSTALLED)
	PYTHON=$(BIN) bash tests/arm.sh build/arm

bench: $(INSTALLED)
	$(BIN) -m companion bench

lab: $(LAB)
	$(BIN) -m jupyterlab notebooks

strip: $(INSTALLED)
	$(BIN) -m jupytext --sync notebooks/*.ipynb
	$(BIN) .ci/strip.py notebooks/*.ipynb

lint: $(INSTALLED)
	@! grep -l '"output_type"' notebooks/*.ipynb || { echo "outputs in these: make strip" >&2; exit 1; }
	$(BIN) -m ruff check .
	$(BIN) -m ruff format --check .
	$(BIN) -c 'from importlinter.cli import lint_imports; raise SystemExit(lint_imports())'

linkcheck: $(INSTALLED)
	$(BIN) -c "from jupyter_book.cli.main import main; main()" build . --builder linkcheck --all

$(INSTALLED): requirements.lock pyproject.toml amol/pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none found (set PYTHON=...)" >&2; exit 1; }
	"$(PYTHON)" -m venv .venv
	$(BIN) -m pip install --quiet --requirement requirements.lock
	$(BIN) -m pip install --quiet --no-deps --no-build-isolation --editable ./amol --editable .
	@touch $@

$(LAB): requirements-lab.lock $(INSTALLED)
	$(BIN) -m pip install --quiet --requirement requirements-lab.lock
	@touch $@

# a package of requirements-lab.lock stays there, every other goes into requirements.lock
lock:
	@rm -f .venv/*.lock
	@$(BIN) -m pip freeze --all --exclude-editable --exclude pip --exclude amol --exclude amol-companion \
		| sed -E 's/\+cpu$$//' | LC_ALL=C sort -f | awk -F== \
		'NR == FNR { lab[$$1]; next } { print > (".venv/" ($$1 in lab ? "lab" : "book") ".lock") }' \
		requirements-lab.lock -
	@{ echo "# Every package at the version that this book is tested with; made by 'make lock'."; \
		cat .venv/book.lock; } > .venv/whole && mv .venv/whole requirements.lock
	@test ! -e .venv/lab.lock || { { head -1 requirements-lab.lock; cat .venv/lab.lock; } \
		> .venv/whole && mv .venv/whole requirements-lab.lock; }

clean:
	rm -rf build _build
