/// Queue of tasks: states, dependencies, attempts and retries, and the orchestrator that runs ready tasks in sandboxes.
@NullMarked
package dev.vivarium.core.task;

import org.jspecify.annotations.NullMarked;
