"""What the gradients and units of watched steps measure, step by step."""
