/// Remote mode: the engine at the other end of an HTTP connection.
@NullMarked
package dev.vivarium.sdk.http;

import org.jspecify.annotations.NullMarked;
