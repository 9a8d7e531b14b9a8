package dev.vivarium.core.guest;

import java.time.Instant;
import java.util.Optional;

/// Process that a guest still has from an earlier connection. A kept process has the name from its request, and may
/// have exited. Immutable.
public record SurvivingProcess(int channel, Service service, int pid, Instant started, Optional<String> name) {}
