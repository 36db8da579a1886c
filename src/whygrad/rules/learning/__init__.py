"""Rules about trainings that run and do not learn: output, loss, labels, data and rates that do not fit.

What does not fit is a question of `graph/questions`; here it is said. What follows from it is a note, not a finding.
"""
