"""Facts -> findings: one file a rule or a family of rules."""
