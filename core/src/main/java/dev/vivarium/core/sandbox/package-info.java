/// Sandboxes by thread: their states, leases, warm pool, recovery after a restart and removal without a trace.
@NullMarked
package dev.vivarium.core.sandbox;

import org.jspecify.annotations.NullMarked;
