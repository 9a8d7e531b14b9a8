package dev.vivarium.model;

import java.util.Optional;

/// Tool call of an agent, as its worker reports it. Immutable.
///
/// @param id      id that the result names too
/// @param input   the whole input, a JSON text
/// @param command command line, if the tool is a shell
/// @param path    file that the call concerns
/// @param url     address that the call concerns
public record ToolCall(
        String id, String tool, String input, Optional<String> command, Optional<String> path, Optional<String> url) {}
