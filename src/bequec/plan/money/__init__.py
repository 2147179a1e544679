"""money: what asking costs, and what a budget buys."""
