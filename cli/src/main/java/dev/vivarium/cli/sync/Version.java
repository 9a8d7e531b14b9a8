package dev.vivarium.cli.sync;

/// What a file holds: two files with equal versions are the same. Immutable.
///
/// @param hash the SHA-256 of its bytes, in hexadecimal digits
public record Version(String hash, boolean executable) {}
