package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.model.Failure.InvalidRequest.requireBytes;

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
        requireText(description, "task.description");
        type.ifPresent(word -> requireWord(word, "task.type"));
        priority.ifPresent(word -> requireWord(word, "task.priority"));
        requireText(context, "task.context");
        requireText(constraints, "task.constraints");
    }

    private static void requireWord(String word, String field) {
        require(!word.isBlank(), field, "must not be empty");
        requireShort(word, field, MAX_WORD);
        requirePlain(word, field);
    }

    private static void requireShort(String text, String field, int max) {
        require(text.length() <= max, field, "must be at most " + max + " characters, not " + text.length());
    }

    private static void requirePlain(String text, String field) {
        require(text.chars().noneMatch(Character::isISOControl), field, "must not hold control characters");
    }

    private static void requireText(String text, String field) {
        requireBytes(text, field, MAX_TEXT);
        require(text.indexOf('\0') < 0, field, "must not hold the character NUL");
    }
}
