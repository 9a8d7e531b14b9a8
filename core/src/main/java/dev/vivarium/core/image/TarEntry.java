package dev.vivarium.core.image;

/// One entry of a tar archive. Immutable.
///
/// @param link what a link points to; empty for anything else
record TarEntry(String name, Type type, String link, long size, int mode, long uid, long gid) {
    enum Type {
        FILE,
        DIRECTORY,
        SYMLINK,
        HARD_LINK,
        /// Devices, FIFOs and what else there is.
        OTHER
    }
}
