/// Machines as plain processes of the host, without isolation: for tests, and for laptops without root.
@NullMarked
package dev.vivarium.core.provider.process;

import org.jspecify.annotations.NullMarked;
