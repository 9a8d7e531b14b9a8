/// Keeping a directory and a sandbox's workspace alike: what to do is decided by comparing both with their last common
/// state, and nothing that anybody wrote is ever lost.
@NullMarked
package dev.vivarium.cli.sync;

import org.jspecify.annotations.NullMarked;
