"""What fit takes, and what it refuses."""

import numpy as np
import pytest

from bequec import AnswersError, BeQuec


@pytest.mark.parametrize("diagonal", [np.nan, 1.0])
def test_an_array_of_nothing_is_refused_before_any_work(diagonal):
    """Warnings are errors here: none may come before the message."""
    nothing = np.full((6, 6), np.nan)
    np.fill_diagonal(nothing, diagonal)
    with pytest.raises(AnswersError, match="every pair is NaN: there is no answer to learn from"):
        BeQuec(2).fit(nothing)
