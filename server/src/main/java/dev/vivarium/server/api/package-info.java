/// The operations of the API, one class each: what a request must hold, which call of the engine it becomes, and the
/// answer.
@NullMarked
package dev.vivarium.server.api;

import org.jspecify.annotations.NullMarked;
