/// The engine as a plain library: sandboxes by thread, on isolation providers, over one wire. No HTTP, no JSON, no
/// command line.
@NullMarked
package dev.vivarium.core;

import org.jspecify.annotations.NullMarked;
