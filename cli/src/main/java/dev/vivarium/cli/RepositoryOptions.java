package dev.vivarium.cli;

import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.Git;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options that select a git repository.
final class RepositoryOptions {
    @Option(names = "--run", paramLabel = "RUN", description = "Repository of this run.")
    private @Nullable String run;

    @Option(names = "--url", paramLabel = "URL", description = "Repository by its address, with --credential.")
    private @Nullable String url;

    @Option(names = "--credential", paramLabel = "NAME", description = "Stored credential, with --url.")
    private @Nullable String credential;

    Git.Selection selection() {
        if (run != null && url == null && credential == null) {
            return Git.Selection.ofRun(run);
        }
        if (run == null && url != null && credential != null) {
            return Git.Selection.ofUrl(url, credential);
        }
        throw SandboxException.invalid(
                "the repository", "must be given as --run RUN, or as --url URL --credential NAME");
    }
}
