# shellcheck shell=sh
# Sourced. Puts the tools that scripts/install-tools fetched at the front of PATH.
TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/vivarium/tools
PATH=$TOOLS/bin:$PATH
export PATH
