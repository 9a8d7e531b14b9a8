package dev.vivarium.core.git;

import java.util.Arrays;
import java.util.Optional;

/// Kind of a request of git over HTTP.
public enum Transfer {
    /// Fetches from the remote.
    FETCH("git-upload-pack"),
    /// Pushes to the remote.
    PUSH("git-receive-pack");

    private final String text;

    Transfer(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }

    public String requestType() {
        return "application/x-" + text + "-request";
    }

    public String resultType() {
        return "application/x-" + text + "-result";
    }

    public String advertisementType() {
        return "application/x-" + text + "-advertisement";
    }

    public static Optional<Transfer> find(String text) {
        return Arrays.stream(values()).filter(one -> one.text.equals(text)).findFirst();
    }
}
