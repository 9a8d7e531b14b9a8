/// Watching of sandboxes: publishes file changes and resource usage as events in the logs.
@NullMarked
package dev.vivarium.core.watch;

import org.jspecify.annotations.NullMarked;
