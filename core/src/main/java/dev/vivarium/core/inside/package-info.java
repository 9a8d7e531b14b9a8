/// Access from inside a sandbox to the server: a port on the sandbox's loopback interface whose connections the server
/// accepts.
@NullMarked
package dev.vivarium.core.inside;

import org.jspecify.annotations.NullMarked;
