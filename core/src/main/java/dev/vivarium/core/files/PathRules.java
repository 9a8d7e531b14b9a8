package dev.vivarium.core.files;

import static dev.vivarium.model.Failure.InvalidRequest.require;

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
    static String requireInside(String path) {
        require(!path.isEmpty(), "path", "must not be empty");
        return requireInsideOrRoot(path);
    }

    /// Validates the path of a file inside the workspace, or of the workspace itself: `""` or `"."`.
    static String requireInsideOrRoot(String path) {
        require(path.indexOf('\0') < 0, "path", "must not hold a NUL character");
        require(StandardCharsets.UTF_8.newEncoder().canEncode(path), "path", "must be well-formed Unicode");
        require(lengthOf(path) <= MAX_PATH, "path", "must be at most " + MAX_PATH + " bytes long");
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
        require(
                lengthOf(component) <= MAX_COMPONENT,
                "path",
                "must not hold a name longer than " + MAX_COMPONENT + " bytes");
    }

    private static int lengthOf(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
