/// The API for programs: a client, and a handle for each thread's sandbox.
@NullMarked
package dev.vivarium.sdk;

import org.jspecify.annotations.NullMarked;
