/// A thin routing façade over Jetty: routes, exchanges, who may pass, and every error as a problem. Nothing of the
/// product is known here but keys and failures.
@NullMarked
package dev.vivarium.server.http;

import org.jspecify.annotations.NullMarked;
