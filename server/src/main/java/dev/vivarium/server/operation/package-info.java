/// Operations on sandboxes, one class each, without HTTP and WebSocket types. Handlers and sockets authenticate the
/// caller, parse the request, call an operation and print its result.
@NullMarked
package dev.vivarium.server.operation;

import org.jspecify.annotations.NullMarked;
