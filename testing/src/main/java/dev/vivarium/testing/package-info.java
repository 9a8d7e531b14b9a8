/// Contract suites that every provider and store must pass, and what tests need around them.
@NullMarked
package dev.vivarium.testing;

import org.jspecify.annotations.NullMarked;
