"""What fit takes, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from bequec import AnswersError, BeQuec


@pytest.mark.parametrize("diagonal", [np.nan, 1.0])
def test_an_array_of_nothing_is_refused_before_any_work(diagonal):
    """Warnings are errors here: none may come before the message."""
    nothing = np.full((6, 6), np.nan)
    np.fill_diagonal(nothing, diagonal)
    with pytest.raises(AnswersError, match="every pair is NaN: there is no answer to learn from"):
        BeQuec(2).fit(nothing)


def test_numbers_of_any_kind_are_taken_and_anything_else_is_named():
    graph = np.kron(np.eye(2), np.ones((12, 12)))
    expected = BeQuec(2, random_state=0).fit(graph).labels_
    for kind in (object, bool, np.float16, np.int8):
        assert (BeQuec(2, random_state=0).fit(graph.astype(kind)).labels_ == expected).all()
    for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        sparse = getattr(sp.csr_array(graph), f"to{form}")()
        assert (BeQuec(2, random_state=0).fit(sparse).labels_ == expected).all()
    with pytest.raises(AnswersError, match="Complex data not supported"):
        BeQuec(2).fit(graph + 0j)
    with pytest.raises(AnswersError, match="Negative values in data"):
        BeQuec(2).fit(graph - 0.5)
    with pytest.raises(AnswersError, match="something else than numbers: could not convert string to float: 'maybe'"):
        BeQuec(2).fit(np.full((4, 4), "maybe", dtype=object))
    mixed = graph.astype(object)
    mixed[0, 1] = {}
    for error in (AnswersError, TypeError):
        with pytest.raises(error, match=r"something else than numbers: float\(\) argument must be a string"):
            BeQuec(2).fit(mixed)
    with pytest.raises(AnswersError, match=r"found 0 feature\(s\) \(shape=\(5, 0\)\)"):
        BeQuec(2).fit(np.empty((5, 0)))
    with pytest.raises(AnswersError, match="found n_samples=1 node"):
        BeQuec(2).fit(np.ones((1, 1)))
