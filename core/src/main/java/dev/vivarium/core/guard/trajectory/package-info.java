/// Guardian and conductor: compact trajectories of active runs, rules over them, and actions on runs.
@NullMarked
package dev.vivarium.core.guard.trajectory;

import org.jspecify.annotations.NullMarked;
