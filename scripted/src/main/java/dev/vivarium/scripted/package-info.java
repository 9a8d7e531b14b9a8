/// A model that answers from a script, spoken to in the two dialects that agents speak.
@NullMarked
package dev.vivarium.scripted;

import org.jspecify.annotations.NullMarked;
