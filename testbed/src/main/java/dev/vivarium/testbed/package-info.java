/// Other people's servers, started for real by tests and measurements, and gone afterwards.
@NullMarked
package dev.vivarium.testbed;

import org.jspecify.annotations.NullMarked;
