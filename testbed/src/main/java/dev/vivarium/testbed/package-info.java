/// What tests and measurements stand on: other people's servers, started for real and gone afterwards, and patience.
@NullMarked
package dev.vivarium.testbed;

import org.jspecify.annotations.NullMarked;
