/// Programs to copy from: each is whole in one file and runs in the tests.
@NullMarked
package dev.vivarium.examples;

import org.jspecify.annotations.NullMarked;
