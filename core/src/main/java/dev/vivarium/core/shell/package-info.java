/// Terminals in a sandbox, for one or several users.
@NullMarked
package dev.vivarium.core.shell;

import org.jspecify.annotations.NullMarked;
