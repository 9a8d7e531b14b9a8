package dev.vivarium.server.api;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.files.WriteCondition;
import dev.vivarium.json.JsonType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// Preconditions of a request, RFC 9110 section 13. An `ETag` is the SHA-256 of a file in quotes, or the version of a
/// large file. Stateless.
final class Preconditions {
    static final JsonType<String> ETAG = JsonType.STRING.with(
            "description",
            "The SHA-256 of the content, in quotes. For a file of more than 8 MiB, a version that changes with each write.");

    private static final String IF_MATCH = "If-Match";
    private static final String IF_NONE_MATCH = "If-None-Match";
    private static final Pattern TAG = Pattern.compile("\\s*(W/)?\"([\\x21\\x23-\\x7E\\x80-\\xFF]*)\"\\s*(,|$)");

    private Preconditions() {}

    static String tag(String text) {
        return '"' + text + '"';
    }

    /// Preconditions of a request that changes a file.
    static WriteCondition ofChange(Exchange exchange) {
        var match = exchange.headerList(IF_MATCH);
        var noneMatch = exchange.headerList(IF_NONE_MATCH);
        require(match.isEmpty() || noneMatch.isEmpty(), IF_MATCH, "and " + IF_NONE_MATCH + " must not both be given");
        if (match.isPresent()) {
            return isAny(match.get())
                    ? new WriteCondition.Present()
                    : new WriteCondition.OneOf(tags(IF_MATCH, match.get(), true));
        }
        if (noneMatch.isPresent()) {
            return isAny(noneMatch.get())
                    ? new WriteCondition.Absent()
                    : new WriteCondition.NoneOf(tags(IF_NONE_MATCH, noneMatch.get(), false));
        }
        return WriteCondition.NONE;
    }

    /// Reports whether the client already has this content.
    static boolean isKnown(Exchange exchange, String tag) {
        Optional<String> known = exchange.headerList(IF_NONE_MATCH);
        return known.isPresent()
                && (isAny(known.get())
                        || tags(IF_NONE_MATCH, known.get(), false).contains(tag));
    }

    /// Throws unless the `If-Match` of the request, if present, contains this tag.
    static void requireMatch(Exchange exchange, String path, String tag) {
        Optional<String> wanted = exchange.headerList(IF_MATCH);
        if (wanted.isPresent()
                && !isAny(wanted.get())
                && !tags(IF_MATCH, wanted.get(), true).contains(tag)) {
            throw new SandboxException(new Failure.PreconditionFailed(path, Optional.of(tag)));
        }
    }

    private static boolean isAny(String header) {
        return header.strip().equals("*");
    }

    /// Returns the tags of a list. In a strong comparison, a weak tag does not match any tag.
    private static Set<String> tags(String name, String header, boolean strong) {
        var tags = new HashSet<String>();
        var matcher = TAG.matcher(header);
        int at = 0;
        while (at < header.length()) {
            require(matcher.find(at) && matcher.start() == at, name, "must be * or ETags in quotes");
            if (!strong || matcher.group(1) == null) {
                tags.add(matcher.group(2));
            }
            at = matcher.end();
        }
        return tags;
    }
}
