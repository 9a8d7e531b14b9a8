package dev.vivarium.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Git host on the loopback address, with one account and its token.
interface GitHost extends AutoCloseable {
    URI uri();

    String token();

    /// Returns the `forge` of a credential for this host.
    String forge();

    /// Creates an empty repository with the default branch `main`, and returns its URL.
    String newRepository(String name);

    @Override
    void close();

    default String host() {
        return uri().getAuthority();
    }

    /// Runs a script in a clone of a repository, as a developer with a valid token, and returns its output.
    default String work(String url, String script) {
        try {
            Path directory = Files.createTempDirectory("viv-developer");
            try {
                return git(directory, url.replace("http://", "http://dev:" + token() + "@"), script);
            } finally {
                run(List.of("rm", "-rf", directory.toString()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String git(Path directory, String url, String script) {
        String whole = """
                set -e
                cd "$0"
                export HOME=$0 GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
                git config --global user.name Dev
                git config --global user.email dev@example.com
                git config --global init.defaultBranch main
                git clone -q "$1" clone 2>/dev/null
                cd clone
                """ + script;
        return run(List.of("sh", "-c", whole, directory.toString(), url));
    }

    /// Creates a repository with a first commit on `main`.
    default String repositoryWithCommit(String name) {
        String url = newRepository(name);
        work(
                url,
                "git checkout -q -B main; echo hello > README; git add .; git commit -qm 'first commit';"
                        + " git push -q origin main");
        return url;
    }

    static String run(List<String> command) {
        try {
            var process = new ProcessBuilder(new ArrayList<>(command))
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(command.getFirst() + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
