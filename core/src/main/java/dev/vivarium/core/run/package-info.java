/// Agent runs: what is said to an agent, what it does, what it costs, and how it ends.
@NullMarked
package dev.vivarium.core.run;

import org.jspecify.annotations.NullMarked;
