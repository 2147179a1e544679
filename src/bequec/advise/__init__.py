"""advise: what more answers would buy."""
