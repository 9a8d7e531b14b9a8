package dev.vivarium.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/// Multipart form, with its parts in the order of the calls. Confined to one test.
public final class Form {
    private static final String BOUNDARY = "----a-boundary-of-a-test";

    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    public Form field(String name, String value) {
        return part("form-data; name=\"" + name + "\"", value.getBytes(StandardCharsets.UTF_8));
    }

    public Form file(String filename, String content) {
        return file(filename, content.getBytes(StandardCharsets.UTF_8));
    }

    public Form file(String filename, byte[] content) {
        return part("form-data; name=\"file\"; filename=\"" + filename + "\"", content);
    }

    public Form part(String disposition, byte[] content) {
        write("--" + BOUNDARY + "\r\nContent-Disposition: " + disposition + "\r\n\r\n");
        body.writeBytes(content);
        write("\r\n");
        return this;
    }

    public String contentType() {
        return "multipart/form-data; boundary=" + BOUNDARY;
    }

    /// Returns the body so far, without the last boundary.
    public byte[] soFar() {
        return body.toByteArray();
    }

    /// Ends the form and returns the whole body.
    public byte[] end() {
        write("--" + BOUNDARY + "--\r\n");
        return body.toByteArray();
    }

    private void write(String text) {
        body.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }
}
