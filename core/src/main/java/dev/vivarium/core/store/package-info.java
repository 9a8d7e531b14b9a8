/// SQL storage of the engine: one database, one writer that commits in groups, migrations, and the rows of sandboxes.
@NullMarked
package dev.vivarium.core.store;

import org.jspecify.annotations.NullMarked;
