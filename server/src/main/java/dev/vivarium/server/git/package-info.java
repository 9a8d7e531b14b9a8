/// Relay of git over HTTP for programs inside sandboxes, and the APIs of GitHub and Gitea.
@NullMarked
package dev.vivarium.server.git;

import org.jspecify.annotations.NullMarked;
