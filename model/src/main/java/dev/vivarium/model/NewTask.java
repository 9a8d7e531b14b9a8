package dev.vivarium.model;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Task for an agent. Immutable.
///
/// @param context     information for the agent, a JSON object as text
/// @param constraints limits for the agent, a JSON object as text
public record NewTask(
        String title,
        String description,
        Optional<String> type,
        Optional<String> priority,
        String context,
        String constraints) {
    private static final int MAX_TITLE = 500;
    private static final int MAX_WORD = 50;
    private static final int MAX_TEXT = 100 * 1024;

    public NewTask {
        require(!title.isBlank(), "task.title", "must not be empty");
        requireShort(title, "task.title", MAX_TITLE);
        requirePlain(title, "task.title");
        requireBytes(description, "task.description");
        type.ifPresent(word -> requireWord(word, "task.type"));
        priority.ifPresent(word -> requireWord(word, "task.priority"));
        requireBytes(context, "task.context");
        requireBytes(constraints, "task.constraints");
    }

    /// Returns a task with a title and a description only.
    public static NewTask of(String title, String description) {
        return new NewTask(title, description, Optional.empty(), Optional.empty(), "{}", "{}");
    }

    private static void requireWord(String word, String field) {
        require(!word.isBlank(), field, "must not be empty");
        requireShort(word, field, MAX_WORD);
        requirePlain(word, field);
    }

    private static void requireShort(String text, String field, int most) {
        require(text.length() <= most, field, "must be at most " + most + " characters, not " + text.length());
    }

    private static void requirePlain(String text, String field) {
        require(text.chars().noneMatch(Character::isISOControl), field, "must not hold control characters");
    }

    private static void requireBytes(String text, String field) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        require(bytes <= MAX_TEXT, field, "has " + bytes + " bytes; at most " + MAX_TEXT + " are kept");
        require(text.indexOf('\0') < 0, field, "must not hold the character NUL");
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw new SandboxException(new Failure.InvalidRequest(field, rule));
        }
    }
}
