"""Promises about the project itself: documentation that runs, light imports, order in the house."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bequec
from bequec import BeQuec, QueryPlan
from bequec.cli.main import run

ROOT = Path(__file__).parents[2]
MODULES = [info.name for info in pkgutil.walk_packages(bequec.__path__, "bequec.")]


def code_blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), re.DOTALL)


def test_the_readme_examples_run_and_agree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [example] = code_blocks("README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    names: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), names)
    assert Path("report.html").stat().st_size > 10_000
    script = next(block for block in code_blocks("README.md", "console") if "bequec plan" in block)
    for line in script.splitlines():
        command = line.split("#")[0].split()
        assert command[0] == "bequec"
        assert run(command[1:]) == 0, line
    learned = BeQuec.load("digits/model.npz")
    assert QueryPlan.load("digits/plan.json") == names["plan"]
    assert (learned.labels_ == names["model"].labels_).all()


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_are_right(module):
    results = doctest.testmod(importlib.import_module(module))
    assert results.failed == 0


@pytest.mark.parametrize("name", bequec.__all__)
def test_public_names_are_documented(name):
    assert inspect.getdoc(getattr(bequec, name))


@pytest.mark.parametrize(
    "name", ["QueryPlan", "plan_queries", "ask_graph", "BeQuec", "is_identifiable", "match_clusters"]
)
def test_the_main_names_have_an_example_that_runs(name):
    assert ">>>" in (inspect.getdoc(getattr(bequec, name)) or "")


def test_importing_bequec_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "pandas", "sklearn", "matplotlib")
    program = f"import bequec, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rooms_are_there_without_importing_them_by_name():
    program = "import bequec; print(bequec.look.compare.__name__, bequec.baselines.SPACL.__name__, bequec.simulate)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("compare SPACL <module 'bequec.simulate'")


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'bequec' has no attribute 'BeQueck'"):
        _ = bequec.BeQueck
    assert set(bequec.__all__) <= set(dir(bequec))


def test_every_path_that_contributors_are_sent_to_exists():
    named = re.findall(
        r"`((?:src|tests|docs)/[^`]*|[A-Z]\w+\.md)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    )
    assert len(named) > 15
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/journey.md", "docs/planning.md", "docs/notation.md"])
def test_pages_link_only_to_pages_that_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert ((ROOT / page).parent / target).exists(), target


def test_changes_are_told_in_one_line_each():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("- ") and len(line) > 240] == []


SOURCES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py")}


def n_lines(tree: Any) -> int:
    """From the first statement or ``def`` to the last line, docstrings not counted."""
    documented = (part for part in ast.walk(tree) if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef))
    docstrings: list[Any] = [part.body[0] for part in documented if ast.get_docstring(part)]
    whole = tree.body[-1].end_lineno - getattr(tree, "lineno", 1) + 1 if tree.body else 0
    return int(whole - sum(text.end_lineno - text.lineno + 1 for text in docstrings))


def test_files_and_functions_stay_small():
    assert {path.name: n for path, tree in SOURCES.items() if (n := n_lines(tree)) > 300} == {}
    functions = ((path, part) for path, tree in SOURCES.items() for part in ast.walk(tree))
    long = {(path.name, part.name): n_lines(part) for path, part in functions if isinstance(part, ast.FunctionDef)}
    assert {place: n for place, n in long.items() if n > 60} == {}


def test_only_the_command_line_speaks_of_options():
    texts = ((path, part) for path, tree in SOURCES.items() for part in ast.walk(tree) if "cli" not in path.parts)
    said = {path.name for path, part in texts if re.search(r"\B--[a-z]", str(getattr(part, "value", "")))}
    assert said <= {"folder.py"}  # a study says which command comes next


def test_the_version_is_said_once():
    [stated] = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert stated == bequec.__version__
    assert f"## [{stated}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
