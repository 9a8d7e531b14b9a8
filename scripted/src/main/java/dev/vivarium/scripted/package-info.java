/// Scripted model with the two APIs that agents use.
@NullMarked
package dev.vivarium.scripted;

import org.jspecify.annotations.NullMarked;
