package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;

/// Source or target of a copy. As with scp, a colon before any slash denotes a thread.
sealed interface FileLocation {
    static FileLocation of(String text) {
        int colon = text.indexOf(':');
        int slash = text.indexOf('/');
        boolean inside = colon > 0 && (slash < 0 || colon < slash);
        return inside ? Inside.of(text) : new Local(text);
    }

    /// Local file, or `-`.
    record Local(String path) implements FileLocation {
        boolean isStandard() {
            return path.equals("-");
        }
    }

    /// File in the sandbox of a thread, or its whole workspace.
    record Inside(String thread, String path) implements FileLocation {
        /// Parses an argument that must name a thread.
        static Inside of(String text) {
            int colon = text.indexOf(':');
            return colon < 0 ? new Inside(text, "") : new Inside(text.substring(0, colon), text.substring(colon + 1));
        }

        Inside requirePath() {
            if (path.isEmpty() || path.endsWith("/")) {
                throw new SandboxException(new Failure.InvalidRequest(
                        "'" + thread + ":" + path + "'", "must name a file, as THREAD:PATH"));
            }
            return this;
        }

        /// Appends the name of the source if the target is a directory.
        String nameFor(Local source) {
            String name = source.path().substring(source.path().lastIndexOf('/') + 1);
            return path.isEmpty() || path.endsWith("/") ? path + name : path;
        }
    }
}
