package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;

/// One side of a copy. As with scp, a colon before any slash makes it the other machine's.
sealed interface Place {
    static Place of(String text) {
        int colon = text.indexOf(':');
        int slash = text.indexOf('/');
        boolean inside = colon > 0 && (slash < 0 || colon < slash);
        return inside ? Inside.of(text) : new Here(text);
    }

    /// A file of this machine, or `-`.
    record Here(String path) implements Place {
        boolean isStandard() {
            return path.equals("-");
        }
    }

    /// A file of a thread's sandbox, or its whole workspace.
    record Inside(String thread, String path) implements Place {
        /// Where only a thread can be meant.
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

        /// Under its own name, if the target is a directory.
        String nameFor(Here source) {
            String name = source.path().substring(source.path().lastIndexOf('/') + 1);
            return path.isEmpty() || path.endsWith("/") ? path + name : path;
        }
    }
}
