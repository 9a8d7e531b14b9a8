package dev.vivarium.core.image;

/// Entry of a tar archive. Immutable.
///
/// @param link target of a link; empty for other types
record TarEntry(String name, Type type, String link, int mode, long uid, long gid) {
    enum Type {
        FILE,
        DIRECTORY,
        SYMLINK,
        HARD_LINK,
        /// Devices, FIFOs and other special files.
        OTHER
    }
}
