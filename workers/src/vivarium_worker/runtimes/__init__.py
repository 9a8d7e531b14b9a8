"""Runtimes of agents. Each module imports its own SDK."""
