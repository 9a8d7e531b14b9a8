package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.Digests;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ToolCall;
import java.util.regex.Pattern;

/// One call in the window of a trajectory. Immutable.
///
/// @param signature the same for the same call
/// @param text      the call for people
/// @param isCheck   whether the call tests or builds the work
record Call(long seq, String id, String signature, String text, boolean isCheck, Outcome outcome) {
    private static final int SIGNATURE = 12;
    private static final int TEXT = 160;
    private static final int ID = 80;

    /// Programs that test or build, as words of a command line.
    private static final Pattern CHECK = Pattern.compile(
            "(^|[\\s/;&|(])(pytest|tox|nox|unittest|ruff|mypy|flake8|eslint|tsc|jest|vitest|mocha|shellcheck|clippy"
                    + "|make|cmake|ninja|mvn|mvnw|gradle|gradlew|cargo|bazel|ctest|rspec|phpunit|javac|gcc|g\\+\\+|clang)"
                    + "([\\s;&|)]|$)|\\b(go|npm|yarn|pnpm|dotnet|mix|swift|bundle)\\s+(run\\s+)?(test|build|vet|check|lint|t)\\b"
                    + "|\\b(test|check|lint|verify|build)[\\w.-]*\\.(sh|py|js)\\b|\\bpy_compile\\b|\\bbash\\s+-n\\b");

    enum Outcome implements TextEnum {
        OPEN,
        PASSED,
        FAILED
    }

    static Call of(long seq, ToolCall call) {
        String whole = call.command().map(line -> "$ " + line.strip()).orElse(call.tool() + " " + call.input());
        String shown = call.command().isPresent()
                ? whole
                : call.tool() + " " + call.path().or(call::url).orElse(call.input());
        boolean isCheck =
                call.command().filter(line -> CHECK.matcher(line).find()).isPresent();
        return new Call(
                seq,
                Excerpt.of(call.id(), ID),
                Digests.sha256(whole).substring(0, SIGNATURE),
                Excerpt.of(shown, TEXT),
                isCheck,
                Outcome.OPEN);
    }

    /// Reports whether the call is a process that the program of the run started.
    boolean isProcess() {
        return id.startsWith(Steps.PROCESS);
    }

    /// Reports whether the call only waits.
    boolean isWait() {
        return text.matches("\\$ (\\S*/)?sleep\\b.*");
    }

    Call with(Outcome other) {
        return new Call(seq, id, signature, text, isCheck, other);
    }
}
