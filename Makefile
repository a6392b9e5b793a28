# Short names for what CONTRIBUTING.md describes; the environments are made on first use.
.PHONY: test lint mutate real docs bench screenshots zipapp
PYTHON = .venv/bin/python
TESTS = -m pytest -q -n auto --dist loadfile

.venv/ready: pyproject.toml
	python3 -m venv .venv && .venv/bin/pip install -q -e ".[test,lint]" && touch $@

.venv-real/ready: pyproject.toml tests/real/requirements.txt
	python3 -m venv .venv-real && .venv-real/bin/pip install -q torch==2.13.0
	.venv-real/bin/pip install -q -e ".[demo,test]" -r tests/real/requirements.txt && touch $@

test: .venv/ready
	$(PYTHON) $(TESTS)

lint: .venv/ready
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports
	.venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

mutate: .venv/ready
	$(PYTHON) -m tools.mutate

real: .venv-real/ready
	.venv-real/bin/python -m pytest -q -m real tests

docs: .venv/ready
	$(PYTHON) -m tools.docs
	$(PYTHON) -m benchmarks.diagnosis --write-docs > /dev/null

bench: .venv/ready
	$(PYTHON) -m benchmarks.ingest
	$(PYTHON) -m benchmarks.diagnosis
	$(PYTHON) -m benchmarks.screen
	$(PYTHON) -m benchmarks.scale
	$(PYTHON) -m benchmarks.again
	$(PYTHON) -m benchmarks.first_answer
	$(PYTHON) -m benchmarks.live
	$(PYTHON) -m benchmarks.fleet
	$(PYTHON) -m benchmarks.remote

zipapp: .venv/ready
	$(PYTHON) -m tools.build_zipapp dist

screenshots: .venv/ready
	$(PYTHON) -m screenshots.make
