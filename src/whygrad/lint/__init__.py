"""The same questions as the rules ask, asked of source alone: nothing is run and no framework is imported.

`flow` follows values through a file and notes facts, `rules` ask for verdicts, `files` finds what to read.
"""
