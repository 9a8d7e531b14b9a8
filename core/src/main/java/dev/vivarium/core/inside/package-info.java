/// The way from inside a sandbox to the server: a port on its loopback whose connections the host takes.
@NullMarked
package dev.vivarium.core.inside;

import org.jspecify.annotations.NullMarked;
