package dev.vivarium.core.git;

import dev.vivarium.core.Digests;
import dev.vivarium.model.BranchName;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// References of a remote and its default branch. Immutable.
///
/// @param refs commit ids by full name
/// @param head full name of the default branch
public record RefAdvertisement(Map<String, String> refs, Optional<String> head) {
    private static final Pattern LINE = Pattern.compile("([0-9a-f]{40}|[0-9a-f]{64}) ([^ ]+)");
    private static final Pattern SYMREF = Pattern.compile("(?:^| )symref=HEAD:([^ ]+)");
    private static final String HEADS = "refs/heads/";

    public RefAdvertisement {
        refs = Map.copyOf(refs);
    }

    /// Parses the response to `info/refs` of protocol version 0. Throws [IllegalArgumentException].
    static RefAdvertisement of(byte[] body) {
        var refs = new TreeMap<String, String>();
        Optional<String> head = Optional.empty();
        var lines = new PacketLines(body);
        for (Optional<byte[]> line = lines.next(); line.isPresent(); line = lines.next()) {
            String text = new String(line.get(), StandardCharsets.UTF_8).stripTrailing();
            int nul = text.indexOf('\0');
            String words = nul < 0 ? text : text.substring(0, nul);
            if (nul >= 0) {
                Matcher symref = SYMREF.matcher(text.substring(nul + 1));
                head = symref.find() ? Optional.of(symref.group(1)) : head;
            }
            Matcher ref = LINE.matcher(words);
            if (ref.matches()) {
                refs.put(ref.group(2), ref.group(1));
            }
        }
        return new RefAdvertisement(refs, head);
    }

    public boolean has(BranchName branch) {
        return refs.containsKey(branch.ref());
    }

    /// Returns the default branch, if the remote has one.
    public Optional<BranchName> defaultBranch() {
        return head.filter(refs::containsKey)
                .or(this::sameAsHead)
                .filter(ref -> ref.startsWith(HEADS))
                .map(ref -> new BranchName(ref.substring(HEADS.length())));
    }

    /// Old servers do not name the default branch.
    private Optional<String> sameAsHead() {
        String commit = refs.get("HEAD");
        return commit == null
                ? Optional.empty()
                : refs.entrySet().stream()
                        .filter(ref ->
                                ref.getKey().startsWith(HEADS) && ref.getValue().equals(commit))
                        .map(Map.Entry::getKey)
                        .sorted()
                        .findFirst();
    }

    /// Returns a digest of branches and tags. Two remotes with the same digest have the same commits.
    String digest() {
        var text = new StringBuilder(head.orElse(""));
        new TreeMap<>(refs).forEach((name, commit) -> {
            if (name.startsWith(HEADS) || name.startsWith("refs/tags/") && !name.endsWith("^{}")) {
                text.append('\n').append(commit).append(' ').append(name);
            }
        });
        return Digests.sha256(text.toString());
    }
}
