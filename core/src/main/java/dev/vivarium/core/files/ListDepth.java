package dev.vivarium.core.files;

/// How far below a directory.
public enum ListDepth {
    /// What lies directly in it, or for a removal, the thing itself.
    TOP,
    /// Everything below it.
    ALL
}
