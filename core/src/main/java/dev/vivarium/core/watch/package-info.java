/// Watching: what changes in sandboxes and what they use, whoever does it, becomes events in their logs.
@NullMarked
package dev.vivarium.core.watch;

import org.jspecify.annotations.NullMarked;
