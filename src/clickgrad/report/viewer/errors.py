"""What the viewer raises."""


class NotHere(LookupError):
    """Asked for something that is not in the library."""
