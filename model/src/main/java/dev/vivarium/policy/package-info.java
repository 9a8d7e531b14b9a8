/// Command policy: parses the shell's grammar and rejects every line that it cannot parse completely.
@NullMarked
package dev.vivarium.policy;

import org.jspecify.annotations.NullMarked;
