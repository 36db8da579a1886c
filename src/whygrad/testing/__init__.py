"""Assertions about gradients for your own test suite. Importing this imports no framework."""

from whygrad.testing.diagnoses import assert_diagnoses
from whygrad.testing.gradient_check import assert_gradient_correct
from whygrad.testing.gradients import assert_all_gradients

__all__ = ["assert_all_gradients", "assert_diagnoses", "assert_gradient_correct"]
