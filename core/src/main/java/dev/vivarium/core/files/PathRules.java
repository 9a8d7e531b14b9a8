package dev.vivarium.core.files;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.charset.StandardCharsets;

/// Validation of paths before they are sent, so that the client gets a clear error. Stateless.
///
/// Only the guest decides where a path leads: any check outside would race with processes that change the tree.
final class PathRules {
    private static final int MAX_PATH = 4_096;
    private static final int MAX_COMPONENT = 255;

    private PathRules() {}

    /// Validates the path of a file inside the workspace.
    static String inside(String path) {
        if (path.isEmpty()) {
            throw invalid("must not be empty");
        }
        return checked(path);
    }

    /// Validates the path of a file inside the workspace, or of the workspace itself: `""` or `"."`.
    static String checked(String path) {
        if (path.indexOf('\0') >= 0) {
            throw invalid("must not hold a NUL character");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(path)) {
            throw invalid("must be well-formed Unicode");
        }
        if (path.getBytes(StandardCharsets.UTF_8).length > MAX_PATH) {
            throw invalid("must be at most " + MAX_PATH + " bytes long");
        }
        if (path.startsWith("/")) {
            throw new SandboxException(new Failure.PathEscapes(path));
        }
        for (String component : path.split("/")) {
            requireHarmless(path, component);
        }
        return path;
    }

    private static void requireHarmless(String path, String component) {
        if (component.equals("..")) {
            throw new SandboxException(new Failure.PathEscapes(path));
        }
        if (component.getBytes(StandardCharsets.UTF_8).length > MAX_COMPONENT) {
            throw invalid("must not hold a name longer than " + MAX_COMPONENT + " bytes");
        }
    }

    private static SandboxException invalid(String rule) {
        return new SandboxException(new Failure.InvalidRequest("path", rule));
    }
}
