/// Operations that both a server and a local engine implement.
@NullMarked
package dev.vivarium.sdk.engine;

import org.jspecify.annotations.NullMarked;
