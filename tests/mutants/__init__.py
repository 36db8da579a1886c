"""Healthy programs broken in known ways: does whygrad name the way and the line?

`README.md` says how to read a verdict. `python -m tests.mutants --help` runs it.
"""
