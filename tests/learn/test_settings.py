"""The tuning constants: each one explained, used, and with a record that exists where it cites one."""

import ast
import dataclasses
import itertools
import re
from pathlib import Path

import pytest

from bequec.learn.posterior import settings as of_posterior
from bequec.learn.stitch import settings as of_stitching
from bequec.learn.subspace import settings as of_subspace

MODULES = [of_posterior, of_stitching, of_subspace]
LEARN = Path(str(of_posterior.__file__)).parents[1]
RECORDS = Path(__file__).parents[2] / "docs" / "decisions"


def explanations(module):
    """What is said of each field of the module's settings class, by the field's name."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    [body] = [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name.endswith("Settings")]
    return {
        ast.unparse(node.target): ast.literal_eval(following.value)
        for node, following in itertools.pairwise(body)
        if isinstance(node, ast.AnnAssign) and isinstance(following, ast.Expr)
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.split(".")[-2])
def test_every_setting_is_explained_and_used(module):
    [settings] = [
        value for value in vars(module).values() if dataclasses.is_dataclass(value) and not isinstance(value, type)
    ]
    explained = explanations(module)
    source = "".join(path.read_text(encoding="utf-8") for path in LEARN.rglob("*.py"))
    for field in dataclasses.fields(settings):
        assert len(explained[field.name]) > 20, f"{field.name} is not explained"
        assert f".{field.name}" in source, f"{field.name} has no effect"
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(settings, dataclasses.fields(settings)[0].name, 0)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.split(".")[-2])
def test_cited_records_exist(module):
    cited = set(re.findall(r"\b00\d\d\b", Path(module.__file__).read_text(encoding="utf-8")))
    assert cited
    assert cited <= {path.name[:4] for path in RECORDS.glob("*.md")}
