package dev.vivarium.server.preview;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Query string without the server's own parameter. The rest is unchanged. Immutable.
record PreviewQuery(Optional<String> token, String rest) {
    private static final String TOKEN = "viv_token=";

    static PreviewQuery of(Optional<String> raw) {
        var rest = new ArrayList<String>();
        var tokens = new ArrayList<String>();
        for (String pair : List.of(raw.orElse("").split("&", -1))) {
            if (pair.startsWith(TOKEN)) {
                tokens.add(pair.substring(TOKEN.length()));
            } else {
                rest.add(pair);
            }
        }
        require(tokens.size() <= 1, "viv_token", "must be given once");
        return new PreviewQuery(tokens.stream().findFirst(), raw.isPresent() ? String.join("&", rest) : "");
    }

    /// Removes every occurrence of the server's parameter from a URL.
    static String withoutToken(String url) {
        int question = url.indexOf('?');
        if (question < 0) {
            return url;
        }
        String rest = Stream.of(url.substring(question + 1).split("&", -1))
                .filter(pair -> !pair.startsWith(TOKEN))
                .collect(Collectors.joining("&"));
        return url.substring(0, question) + (rest.isEmpty() ? "" : "?" + rest);
    }

    /// Returns the rest of the query with its question mark, or "" if it is empty.
    String suffix() {
        return rest.isEmpty() ? "" : "?" + rest;
    }
}
