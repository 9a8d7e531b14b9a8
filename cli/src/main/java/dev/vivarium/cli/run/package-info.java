/// Names and output of the commands for runs of agents.
@NullMarked
package dev.vivarium.cli.run;

import org.jspecify.annotations.NullMarked;
