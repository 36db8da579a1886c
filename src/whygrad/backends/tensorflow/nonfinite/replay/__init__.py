"""Running a step again, op by op, without disturbing the program."""
