package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongConsumer;

/// Operation that lists a directory of a workspace. It neither resumes a sandbox nor counts as activity. Stateless.
public final class ListFiles {
    /// Largest depth of a request.
    public static final long MAX_DEPTH = 64;

    /// Memory of an entry without a long name, in bytes.
    public static final int ENTRY_BYTES = 200;

    private static final int MAX_ENTRIES = 10_000;
    private static final String WORKSPACE = "/workspace";

    /// @param directory its path relative to the workspace, or its absolute path inside the sandbox
    /// @param depth     levels to list, from 1
    public record Request(Sandbox sandbox, String directory, long depth) {}

    /// Entries of a directory, several levels deep, sorted by name. Immutable.
    ///
    /// @param path    of the directory, relative to the workspace, which is `""`
    /// @param entries with names relative to the directory
    public record FileTree(String path, Listing totals, List<FileEntry> entries) {}

    /// @param reserve the method calls it with a number of bytes before it allocates them; it throws to refuse them
    public FileTree list(Request request, LongConsumer reserve) {
        String path = relative(request.directory);
        require(request.depth >= 1 && request.depth <= MAX_DEPTH, "depth", "must be between 1 and " + MAX_DEPTH);
        var depth = request.depth == 1 ? ListDepth.TOP : ListDepth.ALL;
        var listing = request.sandbox.passiveFiles().list(path, depth, MAX_ENTRIES, reserve);
        reserve.accept((long) ENTRY_BYTES * listing.size());
        List<FileEntry> entries = listing.entries()
                .filter(entry -> level(entry.name()) <= request.depth)
                .sorted(Comparator.comparing(FileEntry::name))
                .toList();
        return new FileTree(path, listing.totals(), entries);
    }

    private static String relative(String directory) {
        if (directory.equals(WORKSPACE)) {
            return "";
        }
        return directory.startsWith(WORKSPACE + "/") ? directory.substring(WORKSPACE.length() + 1) : directory;
    }

    private static long level(String name) {
        return 1 + name.chars().filter(c -> c == '/').count();
    }
}
