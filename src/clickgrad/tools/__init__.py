"""What stands beside the loops: looking at machines, tasks, stored episodes and runs."""
