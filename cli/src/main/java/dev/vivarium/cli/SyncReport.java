package dev.vivarium.cli;

import dev.vivarium.cli.sync.Sync.News;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/// Prints the progress of a synchronization. Reports each skipped file, conflict or failure once. Confined to one
/// thread.
final class SyncReport implements Consumer<News> {
    private final Invocation viv;
    private final Set<String> told = new HashSet<>();
    private String trouble = "";
    private int conflicts;
    private int failures;

    SyncReport(Invocation viv) {
        this.viv = viv;
    }

    /// Starts a round and clears the conflicts and failures of the last one.
    void begin() {
        conflicts = 0;
        failures = 0;
    }

    int exitCode() {
        return conflicts > 0 ? ExitCode.CONFLICT : failures > 0 ? ExitCode.FAILURE : 0;
    }

    /// Reports whether the sandbox is available. Prints the start and the end of an obstacle.
    boolean isAvailable(String hindrance) {
        if (!hindrance.equals(trouble)) {
            trouble = hindrance;
            viv.note(hindrance.isEmpty() ? "continuing" : "waiting: " + hindrance);
        }
        return hindrance.isEmpty();
    }

    @Override
    public void accept(News news) {
        switch (news) {
            case News.Done(var change) -> {
                told.remove("conflict " + change.path());
                told.remove("skipped " + change.path());
                told.remove("failed " + change.path());
                print(change.kind().toString(), change.path(), "");
            }
            case News.Conflict(String path, String copy) -> {
                conflicts++;
                once("conflict", path, "the remote version is in " + copy);
            }
            case News.Skipped(String path, String why) -> once("skipped", path, why);
            case News.Failed(String path, String why) -> {
                failures++;
                once("failed", path, why);
            }
        }
    }

    private void once(String what, String path, String why) {
        if (told.add(what + " " + path)) {
            print(what, path, why);
        }
    }

    private void print(String what, String path, String why) {
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("action", what);
                out.writeStringProperty("path", path);
                if (!why.isEmpty()) {
                    out.writeStringProperty("detail", why);
                }
            });
        } else {
            viv.print(what + "  " + path + (why.isEmpty() ? "" : "  (" + why + ")"));
        }
    }
}
