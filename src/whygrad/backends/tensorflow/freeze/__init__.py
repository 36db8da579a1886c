"""From the log to a neutral `Recording`: frozen data without arrays and without objects of the framework."""
