/// Figures about the work of users: baselines and anomalies, alerts, and the health of the queue and the store.
@NullMarked
package dev.vivarium.core.guard.anomaly;

import org.jspecify.annotations.NullMarked;
