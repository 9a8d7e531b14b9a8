package dev.vivarium.model;

import java.util.List;

/// The files below a directory, newest first, with totals of everything there even when `entries` was cut short.
/// Immutable.
public record Listing(
        List<FileEntry> entries, long totalFiles, long totalDirectories, long totalBytes, boolean truncated) {
    public Listing {
        entries = List.copyOf(entries);
    }
}
