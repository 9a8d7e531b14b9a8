/// A server as a command sees it: plain calls that start in a few milliseconds, and the tokens that they carry.
@NullMarked
package dev.vivarium.cli.remote;

import org.jspecify.annotations.NullMarked;
