"""The parts of `whygrad fix`: one search from the first run to the exit status, its processes, what it says."""
