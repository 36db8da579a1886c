"""NaN and Inf: a cheap look at what a step gives, and a replay in detail when something is not finite."""
