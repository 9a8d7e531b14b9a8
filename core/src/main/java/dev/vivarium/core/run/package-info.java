/// Agent runs: their messages, events, cost and end.
@NullMarked
package dev.vivarium.core.run;

import org.jspecify.annotations.NullMarked;
