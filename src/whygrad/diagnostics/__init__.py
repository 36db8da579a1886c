"""What a finding is when it reaches the user."""

from whygrad.diagnostics.comments import comment_troubles
from whygrad.diagnostics.diagnostic import Diagnostic, Label, Said, Severity, Steps
from whygrad.diagnostics.fix import Edit, Fix, FixSafety
from whygrad.diagnostics.selection import Selection, ignored_rules, is_suppressed, parse_selection
from whygrad.diagnostics.vocabulary import Word, Words, in_words, worded

__all__ = [
    "Diagnostic",
    "Edit",
    "Fix",
    "FixSafety",
    "Label",
    "Said",
    "Selection",
    "Severity",
    "Steps",
    "Word",
    "Words",
    "comment_troubles",
    "ignored_rules",
    "in_words",
    "is_suppressed",
    "parse_selection",
    "worded",
]
