/// Example programs. Each is complete in one file and runs in the tests.
@NullMarked
package dev.vivarium.examples;

import org.jspecify.annotations.NullMarked;
