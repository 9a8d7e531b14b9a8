/// Settings of the server. The server reads and validates them once at the start, from arguments, environment and file.
/// It passes them on as one record per concern.
@NullMarked
package dev.vivarium.server.settings;

import org.jspecify.annotations.NullMarked;
