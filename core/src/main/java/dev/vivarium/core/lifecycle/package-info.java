/// Events of the lifecycle of sandboxes and of their commands: a listener writes them, and a follower reads them up to
/// the end of the sandbox.
@NullMarked
package dev.vivarium.core.lifecycle;

import org.jspecify.annotations.NullMarked;
