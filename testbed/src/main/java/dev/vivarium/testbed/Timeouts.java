package dev.vivarium.testbed;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/// Default timeout of one minute for every `await()` without its own limit. Stateless.
///
/// The library's ten seconds are too short on a busy machine. JUnit loads this class through `META-INF/services`.
public final class Timeouts implements LauncherSessionListener {
    private static final Duration LONG = Duration.ofMinutes(1);

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Awaitility.setDefaultTimeout(LONG);
    }
}
