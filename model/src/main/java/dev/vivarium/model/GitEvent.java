package dev.vivarium.model;

import java.time.Duration;

/// Events of the repository of a run. Immutable.
public sealed interface GitEvent extends EventBody {
    /// The server cloned the repository into the sandbox.
    record Cloned(RunId run, String url, String base, String branch, Duration took) implements GitEvent {}

    /// The server pushed the branch of the run.
    record Pushed(RunId run, String branch, String commit) implements GitEvent {}

    /// The branch of the run has a pull request.
    record PullRequested(RunId run, String branch, long number, String url) implements GitEvent {}

    /// The server could not push the work of the run, or could not open its pull request.
    record Failed(RunId run, String branch, String reason) implements GitEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Cloned _ -> "git.cloned";
            case Pushed _ -> "git.pushed";
            case PullRequested _ -> "git.pull_request";
            case Failed _ -> "git.failed";
        };
    }
}
