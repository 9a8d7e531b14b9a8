/// Git repositories of runs: credentials, the relay of git over HTTP, mirrors, commits, pushes and pull requests.
@NullMarked
package dev.vivarium.core.git;

import org.jspecify.annotations.NullMarked;
