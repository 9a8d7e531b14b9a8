/// Environment for tests and benchmarks: external servers, started for real and removed afterwards, and timeouts.
@NullMarked
package dev.vivarium.testbed;

import org.jspecify.annotations.NullMarked;
