/// Telemetry for operators: one log line per event, and metrics for Prometheus.
@NullMarked
package dev.vivarium.server.telemetry;

import org.jspecify.annotations.NullMarked;
