package dev.vivarium.model;

import java.util.List;

/// Files below a directory, newest first. The totals count all files even if `entries` is truncated. Immutable.
public record Listing(
        List<FileEntry> entries, long totalFiles, long totalDirectories, long totalBytes, boolean truncated) {
    public Listing {
        entries = List.copyOf(entries);
    }
}
