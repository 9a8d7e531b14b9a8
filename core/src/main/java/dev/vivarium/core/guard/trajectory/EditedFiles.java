package dev.vivarium.core.guard.trajectory;

import java.util.regex.Pattern;

/// Names of files that programs write by themselves, such as logs and caches. Stateless.
final class EditedFiles {
    private static final Pattern GENERATED = Pattern.compile(
            "(^|/)(\\.git|\\.cache|\\.[a-z_]+_cache|\\.venv|\\.gradle|\\.idea|\\.npm|node_modules|__pycache__|target|dist"
                    + "|build|out|coverage|venv)/|\\.(log|tmp|pyc|o|class|swp|pid|lock)$|(^|/)package-lock\\.json$");

    private EditedFiles() {}

    static boolean isGenerated(String path) {
        return GENERATED.matcher(path).find();
    }
}
