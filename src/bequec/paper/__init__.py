"""paper: every table and figure of the BeQuec paper by one command, beside the printed figures."""
