/// WebSockets: shells, events of a sandbox, and the feed of all events.
@NullMarked
package dev.vivarium.server.socket;

import org.jspecify.annotations.NullMarked;
