"""Worker inside a sandbox: runs an agent on its task, sends its events and delivers messages to it.

The core needs the standard library alone. Each runtime imports its SDK when it is started, so that one
image may hold one of them only.
"""

__version__ = "0.1.0"
