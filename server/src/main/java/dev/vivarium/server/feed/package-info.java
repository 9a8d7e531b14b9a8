/// Live event feed over all sandboxes, with access checks and filters.
@NullMarked
package dev.vivarium.server.feed;

import org.jspecify.annotations.NullMarked;
