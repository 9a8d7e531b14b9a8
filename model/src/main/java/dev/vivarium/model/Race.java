package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.util.List;

/// Attempts at a task that run at the same time. The first one whose check exits with 0 wins. Immutable.
///
/// @param check program and its arguments. It runs in the sandbox of an attempt after its run has completed
public record Race(int attempts, List<String> check) {
    private static final int FEWEST = 2;
    private static final int MOST = 8;
    private static final int MAX_WORDS = 1000;

    public Race {
        check = List.copyOf(check);
        require(attempts >= FEWEST && attempts <= MOST, "attempts", "must be " + FEWEST + " to " + MOST);
        require(!check.isEmpty() && !check.getFirst().isBlank(), "check", "must name a program");
        require(check.size() <= MAX_WORDS, "check", "must have at most " + MAX_WORDS + " words");
        require(check.stream().noneMatch(word -> word.indexOf('\0') >= 0), "check", "must not hold a NUL character");
    }
}
