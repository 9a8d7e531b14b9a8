/// Synchronization of a directory with a workspace, by comparison of both with their last common state. No user data is
/// lost.
@NullMarked
package dev.vivarium.cli.sync;

import org.jspecify.annotations.NullMarked;
