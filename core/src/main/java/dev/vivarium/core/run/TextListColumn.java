package dev.vivarium.core.run;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/// A list of texts as one column: each percent-encoded, joined by spaces; an empty one is `-`. Stateless.
public final class TextListColumn {
    private static final String EMPTY = "-";

    private TextListColumn() {}

    public static String encode(List<String> words) {
        return words.stream()
                .map(word -> word.isEmpty()
                        ? EMPTY
                        : URLEncoder.encode(word, StandardCharsets.UTF_8).replace("-", "%2D"))
                .collect(Collectors.joining(" "));
    }

    public static List<String> decode(String text) {
        return text.isEmpty()
                ? List.of()
                : Arrays.stream(text.split(" ", -1))
                        .map(word -> word.equals(EMPTY) ? "" : URLDecoder.decode(word, StandardCharsets.UTF_8))
                        .toList();
    }
}
