/// Handlers of the API, one class per operation. A handler parses the request, calls the engine and writes the
/// response.
@NullMarked
package dev.vivarium.server.api;

import org.jspecify.annotations.NullMarked;
