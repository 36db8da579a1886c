"""Rewrites of the user's text: a parsed file and a node in it -> edits. Used by rules on what ran, and by lint.

A rewrite knows source text, its syntax and `Word`s; it knows no recording, no rule and no framework. Where it does not
understand the code it gives no fix. Whether a fix helps is not decided here: `whygrad.trial` runs it.
"""
