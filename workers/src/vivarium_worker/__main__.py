"""`vivarium-worker claude | openhands | command -- program arguments…`, `vivarium-worker kill-run ID`"""

from __future__ import annotations

import argparse
import ctypes
import logging
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec

from . import image, leftovers
from .run import Outcome, Run, Runtime
from .runtimes.command import CommandRuntime
from .settings import Misconfigured, Settings
from .spool import SpoolBusy
from .worker import work

MISCONFIGURED = 64
PR_SET_DUMPABLE = 4


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) == 2 and given[0] == "kill-run":
        leftovers.kill_run(given[1])
        return 0
    own, program = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    parser = argparse.ArgumentParser(prog="vivarium-worker", description="Runs an agent on this sandbox's task.")
    parser.add_argument("runtime", choices=["claude", "openhands", "command"], nargs="?")
    options = parser.parse_args(own)
    name = options.runtime or os.environ.get("RUNTIME", "")
    image.enter(name)
    # Logs go to standard error. Standard output stays free for programs that parse it.
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(threadName)s %(message)s")
    try:
        settings = Settings.from_env()
        _prepare_environment(settings)
        return work(settings, choose(name, program))
    except (Misconfigured, SpoolBusy) as e:
        logging.getLogger(__name__).error("%s", e)
        return MISCONFIGURED


def _prepare_environment(settings: Settings) -> None:
    """Removes secrets from the environment, which the programs of the agent inherit."""
    for secret in ("SANDBOX_TOKEN", "MODEL_TOKEN"):
        os.environ.pop(secret, None)
    # /proc keeps the initial environment. From now on other processes of this user cannot read it there.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
    # Agents and their tools store files in the home directory, and some do not start without one.
    if not os.access(os.environ.get("HOME", ""), os.W_OK):
        home = settings.state / "home"
        home.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = str(home)


class Sdk:
    """Runtime that imports its SDK at the start of the run, because the import takes seconds."""

    def __init__(self, name: str, module: str, load: Callable[[], Runtime]) -> None:
        if find_spec(module) is None:
            raise Misconfigured(f"the {name} runtime is not in this image: viv image build worker")
        self.name = name
        self._load = load

    def work(self, run: Run) -> Outcome:
        return self._load().work(run)


def choose(name: str, program: list[str]) -> Runtime:
    """Returns the runtime with this name."""
    if name == "claude":
        return Sdk(name, "claude_agent_sdk", _claude)
    if name == "openhands":
        return Sdk(name, "openhands", _openhands)
    if name != "command":
        raise Misconfigured(f"RUNTIME is {name!r}; it must be claude, openhands or command")
    if not program:
        raise Misconfigured("the command runtime needs a program: vivarium-worker command -- program arguments")
    return CommandRuntime(program)


def _claude() -> Runtime:
    from .runtimes.claude import ClaudeRuntime

    return ClaudeRuntime()


def _openhands() -> Runtime:
    from .runtimes.openhands import OpenHandsRuntime

    return OpenHandsRuntime()


if __name__ == "__main__":
    sys.exit(main())
