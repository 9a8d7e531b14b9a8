/// What listens on a port inside a sandbox, shown outside: HTTP and upgraded connections, taken apart and framed anew
/// on the way, over the sandbox's wire.
@NullMarked
package dev.vivarium.server.preview;

import org.jspecify.annotations.NullMarked;
