package dev.vivarium.server.operation;

import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import java.util.List;

/// Entries of a directory of a workspace, several levels deep, sorted by name. Immutable.
///
/// @param path    of the directory, relative to the workspace, which is `""`
/// @param entries with names relative to the directory
public record FileTree(String path, Listing totals, List<FileEntry> entries) {}
