/// Command policy: a guard rail that parses the shell's grammar and rejects every line that it does not understand
/// completely.
@NullMarked
package dev.vivarium.policy;

import org.jspecify.annotations.NullMarked;
