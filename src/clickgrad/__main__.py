"""`python -m clickgrad` is `clickgrad`."""

import sys

from clickgrad.cli import main

sys.exit(main())
