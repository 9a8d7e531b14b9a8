/// Supervision of workers by their heartbeats and their work: idle runs, restarts, forensics and quarantine.
@NullMarked
package dev.vivarium.core.guard.liveness;

import org.jspecify.annotations.NullMarked;
