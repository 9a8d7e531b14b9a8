/// Java API: a client, and a handle for the sandbox of each thread.
@NullMarked
package dev.vivarium.sdk;

import org.jspecify.annotations.NullMarked;
