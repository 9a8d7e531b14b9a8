package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.Status;
import java.util.Optional;

/// The next step after a failure, where there is one that usually helps.
final class Hint {
    private Hint() {}

    static Optional<String> of(Failure failure) {
        return switch (failure) {
            case Failure.NotAuthenticated _ ->
                Optional.of(
                        "set VIV_API_KEY, or give a profile a key in ~/.config/viv/config.toml; viv doctor checks it");
            case Failure.NotAllowed _ -> Optional.of("ask the thread's owner:  viv share THREAD YOU --scope …");
            case Failure.ServerUnreachable _ -> Optional.of("viv doctor says more; viv serve starts a server here");
            case Failure.NoSandboxForThread f ->
                Optional.of("viv threads lists yours; viv exec " + f.thread().value() + " -- true makes a sandbox");
            case Failure.NoSuchSandbox _, Failure.SandboxEnded _ ->
                Optional.of("viv runs lists agents, viv threads all that there is; viv exec makes a new one");
            case Failure.SandboxNotRunning f
            when f.status() == Status.PAUSED -> Optional.of("to go on:  viv resume THREAD");
            case Failure.NoSuchFile f -> Optional.of("'" + f.path() + "' is not there; viv ls THREAD lists what is");
            case Failure.WrongFileType _ ->
                Optional.of("for directories:  viv ls THREAD:PATH, viv rm -r THREAD:PATH, viv sync THREAD DIR");
            case Failure.NoSuchSnapshot _ -> Optional.of("viv snapshot ls THREAD lists what was saved");
            case Failure.TooManySnapshots f ->
                Optional.of("make room:  viv snapshot ls " + f.thread().value() + ", then viv snapshot rm SNAPSHOT");
            case Failure.ThreadHasSandbox _ -> Optional.of("viv threads lists the names that are taken");
            case Failure.PolicyRefused _ ->
                Optional.of("the server's command policy decides: docs/reference/command-policy.md");
            case Failure.NoDiskSpace _ -> Optional.of("make room:  viv ls lists sandboxes, viv end THREAD ends one");
            case Failure.OfCapacity _ -> Optional.of("try again in a moment");
            case Failure.FileTooLarge f ->
                Optional.of("the server takes files of up to " + Table.rounded(f.maxBytes())
                        + "; its setting max-file-size-mb decides");
            case Failure.WorkspaceFull _, Failure.TooManyFiles _, Failure.DiskFull _ ->
                Optional.of("make room with viv rm, or raise the server's limit");
            case Failure.CannotRun _ -> Optional.of("the program must be in the server's image: docs/guides/images.md");
            default -> Optional.empty();
        };
    }
}
