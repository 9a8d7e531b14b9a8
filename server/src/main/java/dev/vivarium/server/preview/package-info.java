/// HTTP proxy from clients to the ports inside a sandbox. It parses and reframes every request and response, and
/// tunnels upgraded connections.
@NullMarked
package dev.vivarium.server.preview;

import org.jspecify.annotations.NullMarked;
