/// A person's terminal in a sandbox's shell: raw keys one way, the screen the other, across lost connections.
@NullMarked
package dev.vivarium.cli.tty;

import org.jspecify.annotations.NullMarked;
