package dev.vivarium.core.git;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Git commands of the server in a sandbox. They reach the remote through the relay. Stateless.
final class SandboxGit {
    private static final Duration TIMEOUT = Duration.ofMinutes(30);
    private static final int MAX_OUTPUT = 64 * 1024;
    private static final int MAX_SHOWN = 500;
    private static final Map<String, String> ENVIRONMENT =
            Map.of("GIT_TERMINAL_PROMPT", "0", "GIT_OPTIONAL_LOCKS", "0");

    /// The settings are in a file of their own, which each run rewrites: a fork of a sandbox has another port.
    private static final String CLONE = """
            set -eu
            relay=$1 url=$2 other=$3 base=$4 branch=$5 start=$6 depth=$7 dir=$8 author=$9
            shift 9
            email=$1 coauthor=$2
            command -v git > /dev/null || { echo "the image has no git" >&2; exit 127; }
            mkdir -p "$HOME/.vivarium"
            settings=$HOME/.vivarium/gitconfig
            rm -f "$settings"
            git config -f "$settings" "url.$relay.insteadOf" "$url"
            git config -f "$settings" --add "url.$relay.insteadOf" "$other"
            git config -f "$settings" user.name "$author"
            git config -f "$settings" user.email "$email"
            git config -f "$settings" push.default current
            git config -f "$settings" push.autoSetupRemote true
            git config -f "$settings" init.defaultBranch main
            git config -f "$settings" advice.detachedHead false
            git config --global --get-all include.path 2> /dev/null | grep -qxF "$settings" ||
              git config --global --add include.path "$settings"
            [ -d "$dir/.git" ] || git init -q "$dir"
            cd "$dir"
            git config remote.origin.url "$url"
            git config remote.origin.fetch "+refs/heads/*:refs/remotes/origin/*"
            mkdir -p .git/hooks
            cat > .git/hooks/commit-msg <<END
            #!/bin/sh
            exec git interpret-trailers --in-place --if-exists addIfDifferent --trailer 'Co-authored-by: $coauthor' "\\$1"
            END
            chmod 755 .git/hooks/commit-msg
            set -- "+refs/heads/$base:refs/remotes/origin/$base"
            [ "$start" = "$base" ] || set -- "$@" "+refs/heads/$start:refs/remotes/origin/$start"
            if [ "$depth" -gt 0 ]; then set -- --depth "$depth" origin "$@"; else set -- origin "$@"; fi
            git fetch -q --no-tags "$@"
            if [ "$(git symbolic-ref -q --short HEAD || true)" != "$branch" ] || ! git rev-parse -q --verify HEAD > /dev/null; then
              git checkout -q --no-track -B "$branch" "refs/remotes/origin/$start"
            fi
            """;

    private static final String COMMIT = """
            set -eu
            cd "$1"
            message=$2
            shift 2
            if [ $# -gt 0 ]; then git add -A -- "$@"; else git add -A; fi
            if ! git diff --cached --quiet; then git commit -q -m "$message"; fi
            git rev-parse HEAD
            """;

    /// A shallow clone may lack the common commit, so an empty range is compared by content.
    private static final String PUSH = """
            set -eu
            cd "$1"
            base=$2 branch=$3
            head=$(git rev-parse HEAD)
            if [ "$head" = "$(git rev-parse -q --verify "refs/remotes/origin/$base" || true)" ]; then
              exit 3
            fi
            git push -q origin "HEAD:refs/heads/$branch"
            echo "$head"
            """;

    static final int NOTHING_TO_PUSH = 3;

    /// Parameters of a clone. Immutable.
    ///
    /// @param relay  address of the relay of the repository inside the sandbox
    /// @param start  branch to check out: the base, or the branch of the run if the remote has it
    record Clone(RunRepository work, String relay, String base, String start, String author, String coauthor) {}

    private SandboxGit() {}

    static String directory(Sandbox sandbox, RunRepository work) {
        return sandbox.workspace() + "/" + work.repository().url().name();
    }

    static void cloneInto(Sandbox sandbox, Clone clone) {
        RunRepository work = clone.work;
        run(
                sandbox,
                "the clone of " + work.repository().url(),
                CLONE,
                clone.relay,
                work.repository().url().toString(),
                work.repository().url().withOtherSuffix(),
                clone.base,
                work.branch().value(),
                clone.start,
                Integer.toString(work.repository().depth()),
                directory(sandbox, work),
                clone.author,
                "agent@vivarium.invalid",
                clone.coauthor);
    }

    /// Commits the changes of the working tree, if there are any. Returns the newest commit.
    static String commit(Sandbox sandbox, RunRepository work, String message, List<String> paths) {
        var arguments = new ArrayList<>(List.of(directory(sandbox, work), message));
        arguments.addAll(paths);
        return run(sandbox, "the commit", COMMIT, arguments.toArray(String[]::new));
    }

    /// Pushes the newest commit to the branch of the run and returns it. Returns an empty text if the run made no
    /// commit.
    static String push(Sandbox sandbox, RunRepository work) {
        return run(
                sandbox,
                "the push to " + work.branch(),
                PUSH,
                directory(sandbox, work),
                work.base().orElseThrow().value(),
                work.branch().value());
    }

    private static String run(Sandbox sandbox, String step, String script, String... arguments) {
        var argv = new ArrayList<>(List.of("sh", "-c", script, "vivarium-git"));
        argv.addAll(List.of(arguments));
        var command = Command.of(argv.toArray(String[]::new))
                .withEnv(ENVIRONMENT)
                .withTimeout(TIMEOUT)
                .withOutputLimit(MAX_OUTPUT);
        try (Execution execution = sandbox.execInternal(command)) {
            ExecResult result = execution.collect();
            if (result.exit().cause() == Exit.Cause.EXITED && result.exitCode() == NOTHING_TO_PUSH) {
                return "";
            }
            if (result.exitCode() != 0) {
                throw new SandboxException(new GitFailure.GitCommandFailed(step, reason(result)));
            }
            return result.stdout().strip();
        }
    }

    private static String reason(ExecResult result) {
        if (result.exit().cause() == Exit.Cause.TIMEOUT) {
            return "it did not end within " + TIMEOUT.toMinutes() + " minutes";
        }
        String text = (result.stderr().isBlank() ? result.stdout() : result.stderr()).strip();
        if (text.isEmpty()) {
            return "exit status " + result.exitCode();
        }
        return text.length() <= MAX_SHOWN ? text : "…" + text.substring(text.length() - MAX_SHOWN);
    }
}
