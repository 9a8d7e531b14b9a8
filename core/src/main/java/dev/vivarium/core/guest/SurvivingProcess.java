package dev.vivarium.core.guest;

import java.time.Instant;
import java.util.Optional;

/// A process that a guest still has from an earlier connection. One that is kept has the name that it was opened with,
/// and may have ended meanwhile. Immutable.
public record SurvivingProcess(int channel, Service service, int pid, Instant started, Optional<String> name) {}
