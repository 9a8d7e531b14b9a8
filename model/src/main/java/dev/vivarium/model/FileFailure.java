package dev.vivarium.model;

/// Failures of files in a workspace. Immutable.
public sealed interface FileFailure extends Failure
        permits Failure.NoSuchFile,
                Failure.WrongFileType,
                Failure.PreconditionFailed,
                Failure.FileChanging,
                Failure.PathEscapes,
                Failure.FileExists,
                Failure.FileNotPermitted,
                Failure.FileTooLarge,
                Failure.TooManyFiles,
                Failure.WorkspaceFull,
                FileFailure.FileTooLargeToShow,
                FileFailure.VersionNotKept,
                FileFailure.RangeNotSatisfiable {
    /// The file is larger than the server renders as text. The file route still sends it.
    record FileTooLargeToShow(SandboxId id, String path, long size, long limit) implements FileFailure {
        @Override
        public String sentence() {
            return path + " has " + size + " bytes, of at most " + limit
                    + " for this route; read its bytes at /sandboxes/" + id + "/files/" + path;
        }
    }

    /// The file history does not hold the content of the file after event `seq`.
    record VersionNotKept(String path, long seq) implements FileFailure {
        @Override
        public String sentence() {
            return "the server does not keep the content of " + path + " after event " + seq
                    + "; it keeps recent texts of at most 64 KB";
        }
    }

    /// The requested range contains no byte of the file.
    record RangeNotSatisfiable(long size) implements FileFailure {
        @Override
        public String sentence() {
            return "the file has " + size + " bytes, none of them in that range";
        }
    }
}
