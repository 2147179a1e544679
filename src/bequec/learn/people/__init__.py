"""Who answered: how far to trust each worker, and what people's piles of items say."""
