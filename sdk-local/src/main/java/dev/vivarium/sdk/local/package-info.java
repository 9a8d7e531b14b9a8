/// Local mode: the engine itself behind the client, in the caller's own process.
@NullMarked
package dev.vivarium.sdk.local;

import org.jspecify.annotations.NullMarked;
