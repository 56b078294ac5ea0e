"""Which episodes come next, and what they teach: one file for each algorithm. The loop around them is the recipe's."""
