package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.Status;
import java.util.Optional;

/// Hint for the next step after a failure.
final class Hint {
    private static final String FREE_SPACE = "remove files with viv rm, or raise the limit of the server";

    private Hint() {}

    static Optional<String> of(Failure failure) {
        return switch (failure) {
            case Failure.NotAuthenticated _ ->
                Optional.of(
                        "set VIV_API_KEY, or give a profile a key in ~/.config/viv/config.toml; viv doctor checks it");
            case Failure.NotAllowed f -> Optional.of(permission(f.sentence()));
            case Failure.ServerUnreachable _ ->
                Optional.of("viv serve starts a server; --server URL or VIV_SERVER selects another one;"
                        + " viv doctor checks the connection");
            case Failure.NoSandboxForThread f ->
                Optional.of("viv threads lists yours; viv exec " + f.thread().value() + " -- true creates a sandbox");
            case Failure.NoSuchSandbox _, Failure.SandboxEnded _ ->
                Optional.of("viv runs lists agents, viv threads lists threads; viv exec creates a sandbox");
            case Failure.SandboxNotRunning f
            when f.status() == Status.PAUSED || f.status() == Status.HIBERNATED ->
                Optional.of("resume it:  viv resume THREAD");
            case FileFailure f -> of(f);
            case Failure.DiskFull _ -> Optional.of(FREE_SPACE);
            case Failure.NoSuchSnapshot _ -> Optional.of("viv snapshot ls THREAD lists the snapshots");
            case Failure.TooManySnapshots f ->
                Optional.of("delete one:  viv snapshot ls " + f.thread().value() + ", then viv snapshot rm SNAPSHOT");
            case SandboxFailure.AmbiguousThread f ->
                Optional.of("name the owner:  --owner " + f.owners().getFirst());
            case Failure.ThreadHasSandbox _ -> Optional.of("viv threads lists the existing threads");
            case Failure.PolicyRefused _ ->
                Optional.of("see the command policy of the server: docs/reference/command-policy.md");
            case Failure.NoDiskSpace _ ->
                Optional.of("end a sandbox:  viv threads lists them, viv end THREAD ends one");
            case Failure.OfCapacity _ -> Optional.of("retry in a moment");
            case Failure.CannotRun _ ->
                Optional.of("the image of the server must contain the program: docs/guides/images.md");
            default -> Optional.empty();
        };
    }

    private static Optional<String> of(FileFailure failure) {
        return switch (failure) {
            case Failure.NoSuchFile f ->
                Optional.of("'" + f.path() + "' does not exist; viv ls THREAD lists the files");
            case Failure.WrongFileType _ ->
                Optional.of(
                        "for directories:  viv ls THREAD:PATH, viv cp -r, viv rm -r THREAD:PATH, viv sync THREAD DIR");
            case Failure.FileTooLarge f ->
                Optional.of("the server accepts files of up to " + Table.rounded(f.maxBytes())
                        + "; see its setting max-file-size-mb");
            case Failure.WorkspaceFull _, Failure.TooManyFiles _ -> Optional.of(FREE_SPACE);
            default -> Optional.empty();
        };
    }

    /// Returns who can help: the owner of a thread cannot give the rights of an admin.
    private static String permission(String refusal) {
        if (refusal.contains("admin")) {
            return "use the admin key, which is in the file credentials of the server's home";
        }
        return refusal.contains("owner")
                ? "ask the thread's owner to do it"
                : "ask the thread's owner for it:  viv share THREAD YOU --scope SCOPE";
    }
}
