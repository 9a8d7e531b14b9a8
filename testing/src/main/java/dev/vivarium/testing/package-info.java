/// Contract suites for every provider and client, and tools for tests.
@NullMarked
package dev.vivarium.testing;

import org.jspecify.annotations.NullMarked;
