/// `viv`, the command line: one file per command, and nothing that the SDK cannot do.
@NullMarked
package dev.vivarium.cli;

import org.jspecify.annotations.NullMarked;
