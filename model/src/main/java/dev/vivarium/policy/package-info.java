/// Which command lines may run: a guard rail that reads the shell's grammar and refuses what it
/// does not fully understand.
@NullMarked
package dev.vivarium.policy;

import org.jspecify.annotations.NullMarked;
