import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from bequec import QueryPlan

settings.register_profile("any machine", deadline=None)  # a slow or busy machine is no failure
settings.load_profile("any machine")


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


@pytest.fixture
def dogs_folder():
    """The paper's dog data, where BEQUEC_DATA names a folder that has it."""
    folder = Path(os.environ.get("BEQUEC_DATA", "")) / "dogs"
    if "BEQUEC_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("needs the dog data: set BEQUEC_DATA to the folder that holds dogs/")
    return folder


@pytest.fixture
def two_villages():
    """Six named people in two villages; everybody of the first is asked about everybody."""
    return QueryPlan(
        [0, 0, 0, 1, 1, 1], [(0, 0), (0, 1)], names=["ann", "bob", "cy", "dee", "eve", "fay"], group_names=["A", "B"]
    )
