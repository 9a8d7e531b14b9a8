/// Runs of agents as the command line sees them: what happens, as it happens, in words for people.
@NullMarked
package dev.vivarium.cli.run;

import org.jspecify.annotations.NullMarked;
