package dev.vivarium.server.api;

import java.util.Locale;
import java.util.Map;

/// Media types by file name extension. Stateless.
///
/// The content of a file must not decide how a browser treats it, so the server never inspects the content.
final class MediaTypes {
    private static final String UNKNOWN = "application/octet-stream";
    private static final String TEXT = "text/plain; charset=utf-8";

    private static final Map<String, String> BY_EXTENSION = Map.ofEntries(
            Map.entry("txt", TEXT),
            Map.entry("log", TEXT),
            Map.entry("md", "text/markdown; charset=utf-8"),
            Map.entry("csv", "text/csv; charset=utf-8"),
            Map.entry("html", "text/html; charset=utf-8"),
            Map.entry("htm", "text/html; charset=utf-8"),
            Map.entry("css", "text/css; charset=utf-8"),
            Map.entry("js", "text/javascript; charset=utf-8"),
            Map.entry("json", "application/json"),
            Map.entry("xml", "application/xml"),
            Map.entry("yaml", "application/yaml"),
            Map.entry("yml", "application/yaml"),
            Map.entry("py", TEXT),
            Map.entry("java", TEXT),
            Map.entry("rs", TEXT),
            Map.entry("go", TEXT),
            Map.entry("c", TEXT),
            Map.entry("h", TEXT),
            Map.entry("sh", TEXT),
            Map.entry("ts", TEXT),
            Map.entry("pdf", "application/pdf"),
            Map.entry("zip", "application/zip"),
            Map.entry("gz", "application/gzip"),
            Map.entry("tar", "application/x-tar"),
            Map.entry("png", "image/png"),
            Map.entry("jpg", "image/jpeg"),
            Map.entry("jpeg", "image/jpeg"),
            Map.entry("gif", "image/gif"),
            Map.entry("webp", "image/webp"),
            Map.entry("svg", "image/svg+xml"));

    private MediaTypes() {}

    static String of(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        int dot = name.lastIndexOf('.');
        String extension = dot < 0 ? "" : name.substring(dot + 1).toLowerCase(Locale.ROOT);
        return BY_EXTENSION.getOrDefault(extension, UNKNOWN);
    }
}
