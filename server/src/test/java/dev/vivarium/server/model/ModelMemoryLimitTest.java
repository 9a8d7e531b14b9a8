package dev.vivarium.server.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelMemoryLimitTest {
    private static final long LARGEST = 32 * 1024 * 1024;
    private static final List<SandboxId> SANDBOXES = List.of(box("a"), box("b"), box("c"), box("d"), box("e"));

    private final ModelMemoryLimit limit = new ModelMemoryLimit(Duration.ofMillis(20));

    private static SandboxId box(String letter) {
        return new SandboxId("sbx" + letter.repeat(20));
    }

    @Test
    void sandboxIsLimitedToTwoLargestRequests() throws Exception {
        try (var _ = limit.allocate(SANDBOXES.get(0), LARGEST);
                var _ = limit.allocate(SANDBOXES.get(0), LARGEST)) {
            assertThatThrownBy(() -> limit.allocate(SANDBOXES.get(0), 1))
                    .hasMessageContaining("this sandbox has too many");
            limit.allocate(SANDBOXES.get(1), LARGEST).close();
        }
        limit.allocate(SANDBOXES.get(0), LARGEST).close();
    }

    @Test
    void totalIsLimitedAndARejectedRequestTakesNothing() throws Exception {
        var taken = new ArrayList<ModelMemoryLimit.Reservation>();
        for (SandboxId sandbox : SANDBOXES.subList(0, 4)) {
            taken.add(limit.allocate(sandbox, LARGEST));
            taken.add(limit.allocate(sandbox, LARGEST));
        }
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> limit.allocate(SANDBOXES.get(4), LARGEST))
                    .isInstanceOfSatisfying(
                            ModelError.class, e -> assertThat(e.kind()).isEqualTo(ModelError.Kind.FULL));
        }
        taken.forEach(ModelMemoryLimit.Reservation::close);

        for (int i = 0; i < 2; i++) {
            taken.set(i, limit.allocate(SANDBOXES.get(4), LARGEST));
        }
        taken.subList(0, 2).forEach(ModelMemoryLimit.Reservation::close);
    }
}
