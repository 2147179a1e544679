"""posterior: the cavity iteration with a learned Dirichlet prior, and the search for its basin."""
