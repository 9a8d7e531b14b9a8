package dev.vivarium.model;

import java.nio.charset.StandardCharsets;

/// Something to be said to the agent in a sandbox. Control characters, which only confuse it, are taken out. Immutable.
public record NewMessage(String content, Message.Kind kind, Message.Mode mode, String source) {
    public NewMessage {
        content = PlainText.of(content);
        // Before anybody hears it: its event will have the same source.
        NewEvent.requireSource(source);
        if (content.isBlank()) {
            throw new SandboxException(new Failure.InvalidRequest("content", "must say something"));
        }
        int bytes = content.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > Message.LONGEST) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "content", "has " + bytes + " bytes; at most " + Message.LONGEST + " are passed on"));
        }
    }

    /// One that is to be read soon.
    public NewMessage(String content, Message.Kind kind, String source) {
        this(content, kind, Message.Mode.IMMEDIATE, source);
    }
}
