/// Local mode: the engine in the process of the client.
@NullMarked
package dev.vivarium.sdk.local;

import org.jspecify.annotations.NullMarked;
