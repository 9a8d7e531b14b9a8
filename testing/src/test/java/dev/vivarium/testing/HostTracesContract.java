package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.model.SandboxException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Contract of a provider whose machines are on this host: neither a removed machine nor a closed provider leaves a
/// process, mount, loop device, cgroup or file. A test class implements it beside its [ProviderContract].
@ExtendWith(HostTracesContract.CleanHome.class)
public interface HostTracesContract {
    Path home();

    Provider provider();

    Box start();

    @Test
    default void removeLeavesNoTrace() {
        var box = start();
        box.leave("sleep 1000 & (setsid sleep 1000 &) ; nohup sleep 1000 & exec sleep 1000");
        await().until(() -> box.machine().usage().processes() >= 4);
        assertThat(HostTraces.of(box.id(), home())).isNotEmpty();
        provider().remove(box.id(), Disk.ERASE);
        assertThat(HostTraces.of(box.id(), home())).isEmpty();
    }

    @Test
    default void removingAPausedMachineLeavesNoTrace() {
        try (var box = start()) {
            box.leave("sleep 1000");
            box.machine().pause();
            provider().remove(box.id(), Disk.ERASE);
            assertThat(HostTraces.of(box.id(), home())).isEmpty();
        }
    }

    @Test
    default void failedStartLeavesNoTrace() {
        var id = ProviderContract.newId();
        var spec = new MachineSpec(
                id, ProviderContract.SECRET, "no-such-image", ProviderContract.SMALL, ProviderContract.STORE);
        assertThatThrownBy(() -> provider().start(spec)).isInstanceOf(SandboxException.class);
        assertThat(HostTraces.of(id, home())).isEmpty();
    }

    /// Runs before [ProviderContract] closes the provider.
    @AfterEach
    default void removeMachines() {
        for (var id : provider().survivors()) {
            provider().remove(id, Disk.ERASE);
            assertThat(HostTraces.of(id, home())).isEmpty();
        }
    }

    /// Runs after [ProviderContract] has closed the provider.
    final class CleanHome implements AfterEachCallback {
        @Override
        public void afterEach(ExtensionContext context) {
            var test = (HostTracesContract) context.getRequiredTestInstance();
            await().untilAsserted(() -> assertThat(HostTraces.of(test.home())).isEmpty());
        }
    }
}
