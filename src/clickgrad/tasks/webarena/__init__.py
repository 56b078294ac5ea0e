"""The suites `webarena` and `webarena-lite`: their task files, and their checks as the public evaluators make them."""
