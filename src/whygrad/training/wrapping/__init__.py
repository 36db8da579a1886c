"""An optimizer around an optimizer: what all such wrappers share."""
