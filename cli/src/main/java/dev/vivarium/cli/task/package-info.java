/// Files with graphs of tasks, and the output of the commands for tasks.
@NullMarked
package dev.vivarium.cli.task;

import org.jspecify.annotations.NullMarked;
