/// The wire form of the model as JSON, in one place: what the server reads and writes, the client writes and reads.
@NullMarked
package dev.vivarium.json;

import org.jspecify.annotations.NullMarked;
