/// What happens to all sandboxes: who may hear of it, and what they want to hear.
@NullMarked
package dev.vivarium.server.feed;

import org.jspecify.annotations.NullMarked;
