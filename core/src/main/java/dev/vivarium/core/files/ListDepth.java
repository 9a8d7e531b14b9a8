package dev.vivarium.core.files;

/// Depth of a listing or a removal below a directory. Immutable.
public enum ListDepth {
    /// Direct children only; for a removal, the path itself.
    TOP,
    /// All descendants.
    ALL
}
