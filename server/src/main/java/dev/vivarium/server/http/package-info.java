/// Routing layer over Jetty: routes, exchanges, authorization and problem responses.
@NullMarked
package dev.vivarium.server.http;

import org.jspecify.annotations.NullMarked;
