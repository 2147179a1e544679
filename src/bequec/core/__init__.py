"""core: what every room stands on; knows nothing of graphs."""
