"""What the command line does with lint: the command, its report, the server, what lies ahead of a crash."""
