# Short names for what CONTRIBUTING.md describes; the environment is made on first use.
.PHONY: test lint real bench screenshots

.venv/bin/pytest: pyproject.toml
	python3 -m venv .venv && .venv/bin/pip install -q -e ".[test,lint]"

test: .venv/bin/pytest
	.venv/bin/python -m pytest -q

lint: .venv/bin/pytest
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports

real:
	python3 -m venv .venv-real && .venv-real/bin/pip install -q torch==2.13.0
	.venv-real/bin/pip install -q -e ".[demo,test]" -r tests/real/requirements.txt
	.venv-real/bin/python -m pytest -q -m real tests

bench: .venv/bin/pytest
	.venv/bin/python benchmarks/ingest.py
	.venv/bin/python benchmarks/diagnosis.py
	.venv/bin/python benchmarks/screen.py

screenshots: .venv/bin/pytest
	.venv/bin/python screenshots/make.py
