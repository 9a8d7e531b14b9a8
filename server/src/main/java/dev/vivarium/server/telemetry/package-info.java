/// What the server tells its operators: one log line an event, and numbers for Prometheus.
@NullMarked
package dev.vivarium.server.telemetry;

import org.jspecify.annotations.NullMarked;
