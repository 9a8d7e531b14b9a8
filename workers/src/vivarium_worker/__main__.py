"""`vivarium-worker claude | openhands | command -- program arguments…`"""

from __future__ import annotations

import argparse
import logging
import os
import sys

from .run import Runtime
from .settings import Misconfigured, Settings
from .spool import SpoolBusy
from .worker import work

MISCONFIGURED = 64


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    own, program = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    parser = argparse.ArgumentParser(prog="vivarium-worker", description="Runs an agent on this sandbox's task.")
    parser.add_argument("runtime", choices=["claude", "openhands", "command"], nargs="?")
    options = parser.parse_args(own)
    name = options.runtime or os.environ.get("RUNTIME", "")
    # Standard error is the worker's own; standard output stays free for programs that look at it.
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(threadName)s %(message)s")
    try:
        settings = Settings.from_env()
        # What the agent runs inherits this process's environment; these are for the worker alone.
        for secret in ("SANDBOX_TOKEN", "MODEL_TOKEN"):
            os.environ.pop(secret, None)
        return work(settings, choose(name, program))
    except (Misconfigured, SpoolBusy) as e:
        logging.getLogger(__name__).error("%s", e)
        return MISCONFIGURED


def choose(name: str, program: list[str]) -> Runtime:
    """The runtime of that name. Imported only here: each brings an SDK that may not be installed."""
    try:
        if name == "claude":
            from .runtimes.claude import ClaudeRuntime

            return ClaudeRuntime()
        if name == "openhands":
            from .runtimes.openhands import OpenHandsRuntime

            return OpenHandsRuntime()
    except ImportError as e:
        raise Misconfigured(f"the {name} runtime is not in this image: {e}; install vivarium-worker[{name}]") from e
    if name == "command":
        from .runtimes.command import CommandRuntime

        if not program:
            raise Misconfigured("the command runtime needs a program: vivarium-worker command -- program arguments")
        return CommandRuntime(program)
    raise Misconfigured(f"RUNTIME is {name!r}; it must be claude, openhands or command")


if __name__ == "__main__":
    sys.exit(main())
