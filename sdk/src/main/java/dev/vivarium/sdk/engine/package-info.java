/// What a client stands on: the few operations that a server across HTTP and an engine in this process both offer.
@NullMarked
package dev.vivarium.sdk.engine;

import org.jspecify.annotations.NullMarked;
