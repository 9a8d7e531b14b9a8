/// JSON form of the model, shared by the server and its clients.
@NullMarked
package dev.vivarium.json;

import org.jspecify.annotations.NullMarked;
