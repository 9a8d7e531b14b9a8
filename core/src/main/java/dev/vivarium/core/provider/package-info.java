/// Isolation providers: what starts, freezes and ends a machine, and gives one byte stream to its guest. Nothing else
/// of a sandbox is known here.
@NullMarked
package dev.vivarium.core.provider;

import org.jspecify.annotations.NullMarked;
