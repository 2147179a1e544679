"""subspace: the range space refined over the whole mask, without a likelihood."""
