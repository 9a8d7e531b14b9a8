package dev.vivarium.cli.sync;

/// Version of a file. Equal versions have equal content. Immutable.
///
/// @param hash SHA-256 of the content, in hexadecimal digits
public record Version(String hash, boolean executable) {}
