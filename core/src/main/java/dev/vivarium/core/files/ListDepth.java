package dev.vivarium.core.files;

public enum ListDepth {
    /// Direct children only; for a removal, the path itself.
    TOP,
    /// All descendants.
    ALL
}
