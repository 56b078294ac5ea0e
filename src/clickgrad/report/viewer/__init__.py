"""A page to look at runs: a small server on the loopback address, and plain HTML, CSS and JavaScript."""
