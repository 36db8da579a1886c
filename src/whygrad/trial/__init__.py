"""Fixes that are tried: a finding's edits -> a run of the changed program in a process of its own -> what became of it.

The user's files are never touched here but by `writing`, when asked. Nothing that was not run is called verified.
"""
