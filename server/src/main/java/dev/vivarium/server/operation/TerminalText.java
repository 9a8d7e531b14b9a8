package dev.vivarium.server.operation;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Last output of the commands and shells of a sandbox, as lines of plain text. Immutable.
///
/// @param last time of the newest event in the text; empty if the text is empty
public record TerminalText(List<String> lines, Optional<Instant> last) {}
