"""Worker inside a sandbox: runs an agent on its task, sends its events and delivers messages to it.

The core needs only the standard library. Each runtime imports its SDK at its start, so an image needs only one SDK.
"""

__version__ = "0.1.0"
