"""Questions about a graph and its requests: pure functions over the data, told to rules and reports.

What is recorded belongs one room up; what an answer means for the user belongs to the rules.
"""
