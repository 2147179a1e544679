"""The command line: one file a command, each reads, calls, writes and says one line."""
