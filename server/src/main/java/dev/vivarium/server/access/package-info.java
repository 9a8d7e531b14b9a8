/// Lookup of sandboxes and threads on behalf of callers, without HTTP types.
@NullMarked
package dev.vivarium.server.access;

import org.jspecify.annotations.NullMarked;
