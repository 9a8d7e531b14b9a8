package dev.vivarium.testbed;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/// Has every `await()` without a bound of its own wait for a minute: the library's ten seconds are too few on a machine
/// that does four things at once. JUnit finds it by its name in `META-INF/services`. Stateless.
public final class Timeouts implements LauncherSessionListener {
    private static final Duration LONG = Duration.ofMinutes(1);

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Awaitility.setDefaultTimeout(LONG);
    }
}
