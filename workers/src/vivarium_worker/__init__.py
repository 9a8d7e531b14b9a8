"""The worker inside a sandbox: runs an agent on its task, sends its events out and brings messages in.

The core needs the standard library alone. Each runtime imports its SDK when it is started, so that one
image may hold one of them only.
"""

__version__ = "0.1.0"
