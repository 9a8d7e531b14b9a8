package dev.vivarium.core.provider;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;

/// File operation of a provider, with its name in failures. Immutable.
public enum FileOperation {
    OPEN("open the provider"),
    START("start a machine"),
    SET_GRACE("set how long a machine goes on without a server"),
    FIND("look for machines"),
    REMOVE("remove a machine"),
    TAKE_SNAPSHOT("take a snapshot"),
    RESTORE_SNAPSHOT("restore a snapshot"),
    DELETE_SNAPSHOT("delete a snapshot"),
    FIND_SNAPSHOTS("look for snapshots"),
    RECORD("record whose a disk is"),
    SET_ASIDE("move files to or from orphans/");

    private final String words;

    FileOperation(String words) {
        this.words = words;
    }

    /// Operation with a result that can throw an `IOException`.
    public interface Work<T> {
        T run() throws IOException;
    }

    /// Operation without a result that can throw an `IOException`.
    public interface Action {
        void run() throws IOException;
    }

    public <T> T get(Work<T> work) {
        try {
            return work.run();
        } catch (IOException e) {
            throw failed(e);
        }
    }

    public void run(Action act) {
        this.<Boolean>get(() -> {
            act.run();
            return true;
        });
    }

    public SandboxException failed(IOException cause) {
        return new SandboxException(new Failure.ProviderFailed(words, String.valueOf(cause)), cause);
    }

    public SandboxException failed(String reason) {
        return new SandboxException(new Failure.ProviderFailed(words, reason));
    }
}
