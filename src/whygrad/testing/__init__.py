"""Assertions about gradients for your own test suite. Importing this imports no framework."""

from whygrad.testing.assertions import assert_all_gradients, assert_diagnoses, assert_gradient_correct

__all__ = ["assert_all_gradients", "assert_diagnoses", "assert_gradient_correct"]
