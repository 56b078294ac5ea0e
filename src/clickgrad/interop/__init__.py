"""WHERE PEOPLE ALREADY ARE: the suites behind the interfaces of other trainers and agents (docs/interop.md).

`room.py` plays episodes turn by turn for whoever asks; each other module is one foreign interface and imports its
library. Nothing here is imported by the rest of the package.
"""
