"""stitch: the paper's Algorithm 1, and the wider stitching that refinements start from."""
