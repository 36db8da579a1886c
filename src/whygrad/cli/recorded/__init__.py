"""Commands about runs that were recorded: list, show, compare, export."""
