package dev.vivarium.server;

import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.server.api.HealthChecks;
import dev.vivarium.server.api.HealthHandler;
import dev.vivarium.server.api.MetricsHandler;
import dev.vivarium.server.api.NodeHandler;
import dev.vivarium.server.api.OpenApiHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.SandboxRule;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.telemetry.Host;
import dev.vivarium.server.telemetry.Metrics;
import java.util.List;

/// Routes about the server itself: health, metrics, API description. Immutable.
record ServerRoutes(
        Config config, Db db, Provider provider, Sandboxes sandboxes, HealthChecks checks, Metrics metrics) {
    List<Route> all() {
        var self = new HealthHandler.Node(
                config.workerId(), Version.current(), config.engine().image(), db.name());
        var health = new HealthHandler(self, sandboxes, provider, checks, Vivarium.CLOCK);
        var node = new NodeHandler(self, checks, sandboxes, provider, SandboxRule.of(config), new Host(config.home()));
        return List.of(
                HealthHandler.HEALTH.to(health::handle),
                NodeHandler.NODE.to(node::handle),
                OpenApiHandler.DOCUMENT.to(new OpenApiHandler()::handle),
                MetricsHandler.METRICS.to(new MetricsHandler(metrics)::handle));
    }
}
