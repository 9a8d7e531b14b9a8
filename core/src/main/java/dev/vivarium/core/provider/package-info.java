/// Isolation providers: they start, freeze and remove machines, and connect each guest by one byte stream. They know
/// nothing else about sandboxes.
@NullMarked
package dev.vivarium.core.provider;

import org.jspecify.annotations.NullMarked;
