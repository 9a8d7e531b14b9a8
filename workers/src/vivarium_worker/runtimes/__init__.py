"""The kinds of agents that a worker runs; each module is one, and imports its SDK by itself."""
