package dev.vivarium.core.watch;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import com.github.difflib.patch.ChangeDelta;
import com.github.difflib.patch.Chunk;
import com.github.difflib.patch.Patch;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Unified diff of two texts, in the format of `diff -u`. Stateless.
public final class TextDiff {
    private static final int CONTEXT = 3;
    private static final String NOWHERE = "/dev/null";
    private static final String NO_NEWLINE = "\n\\ No newline at end of file";

    /// Maximum number of differing lines. Time and memory for the smallest diff grow with the square of this
    /// number. Larger differences are shown as one replaced block.
    private static final int MAX_LINES = 1000;

    private TextDiff() {}

    /// Returns the diff of `path`. An empty side means that the file did not exist.
    public static String of(String path, Optional<String> before, Optional<String> after) {
        List<String> old = lines(before.orElse(""));
        List<String> now = lines(after.orElse(""));
        String from = before.isPresent() ? "a/" + path : NOWHERE;
        String to = after.isPresent() ? "b/" + path : NOWHERE;
        var text = new StringBuilder();
        for (String line : UnifiedDiffUtils.generateUnifiedDiff(from, to, old, patch(old, now), CONTEXT)) {
            text.append(line.startsWith("@@") ? hunk(line, old.isEmpty(), now.isEmpty()) : line)
                    .append('\n');
        }
        return text.toString();
    }

    /// An empty file has no first line, so its hunk starts at line 0; the library prints 1.
    private static String hunk(String line, boolean fromNothing, boolean toNothing) {
        String fixed = fromNothing ? line.replace("-1,0 ", "-0,0 ") : line;
        return toNothing ? fixed.replace("+1,0 ", "+0,0 ") : fixed;
    }

    private static Patch<String> patch(List<String> old, List<String> now) {
        int head = 0;
        while (head < Math.min(old.size(), now.size()) && old.get(head).equals(now.get(head))) {
            head++;
        }
        int tail = 0;
        while (tail < Math.min(old.size(), now.size()) - head
                && old.get(old.size() - 1 - tail).equals(now.get(now.size() - 1 - tail))) {
            tail++;
        }
        var removed = old.subList(head, old.size() - tail);
        var added = now.subList(head, now.size() - tail);
        if (removed.size() + added.size() <= MAX_LINES) {
            return DiffUtils.diff(old, now);
        }
        var patch = new Patch<String>();
        patch.addDelta(new ChangeDelta<>(new Chunk<>(head, removed), new Chunk<>(head, added)));
        return patch;
    }

    /// A last line without a newline differs from the same line with one.
    private static List<String> lines(String text) {
        var lines = new ArrayList<String>();
        int from = 0;
        for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
            lines.add(text.substring(from, end));
            from = end + 1;
        }
        if (from < text.length()) {
            lines.add(text.substring(from) + NO_NEWLINE);
        }
        return lines;
    }
}
