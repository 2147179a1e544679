"""Where the answers of a study are kept."""
