/// Terminals in a sandbox, alone or with several people in them.
@NullMarked
package dev.vivarium.core.shell;

import org.jspecify.annotations.NullMarked;
