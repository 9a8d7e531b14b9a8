package dev.vivarium.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.SandboxId;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RateLimitsTest {
    @TempDir
    private Path home;

    @Test
    void largestConfigurableLimitsDoNotOverflow() {
        var max = List.of("--home", home.toString(), "--rate-event-mb", "50000", "--rate-events", "1000000");
        var limits =
                new RateLimits(Config.of(Settings.read(max, Map.of(), home)).rates());
        var sandbox = SandboxId.random(new Random(1));
        var route = Route.undocumented("POST", "/events", Route.Access.WORKER, exchange -> {});

        assertThat(limits.count(sandbox, route).orElseThrow().isAllowed()).isTrue();
        assertThat(limits.countBytes(sandbox, route, 100).orElseThrow().remaining())
                .isEqualTo((50_000L << 20) - 100);
    }
}
