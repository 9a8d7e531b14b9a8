package dev.vivarium.server.preview;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpParser;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.util.BufferUtil;
import org.jspecify.annotations.Nullable;

/// Incremental parser for a program's response, based on Jetty's parser. Confined to one worker.
final class ResponseParser {
    private static final int MAX_HEADER_BYTES = 64 * 1024;

    /// Limit of Jetty's parser. It is higher than [#MAX_HEADER_BYTES], because an assertion fails in Jetty when its
    /// own limit is reached.
    private static final int UNREACHED_HEADER_BYTES = 4 * MAX_HEADER_BYTES;

    private static final int MAX_STATUS = 599;

    /// Limit for the informational responses before the final response. [#MAX_INFORMATIONAL_BYTES] limits their
    /// total size.
    private static final int MAX_INFORMATIONAL = 16;

    private static final int MAX_INFORMATIONAL_BYTES = 64 * 1024;

    private final int port;
    private final Events events = new Events();
    private final HttpParser parser = new HttpParser(events, UNREACHED_HEADER_BYTES, HttpCompliance.RFC9110);

    private HttpFields.Mutable headers = HttpFields.build();
    private int status;
    private boolean headRead;
    private boolean whole;
    private @Nullable ByteBuffer content;
    private @Nullable String broken;
    private int informational;
    private int informationalBytes;

    /// With `headOnly`, the request was `HEAD`, so the response has no body, even with a length.
    ResponseParser(int port, boolean headOnly) {
        this.port = port;
        parser.setHeadResponse(headOnly);
    }

    /// Parses `received` and stops after the headers or after one piece of the body.
    void advance(ByteBuffer received) {
        parser.parseNext(received);
        if (parser.getHeaderLength() > MAX_HEADER_BYTES) {
            throw bad("its headers are longer than " + MAX_HEADER_BYTES / 1024 + " KiB");
        }
        refuseBroken();
    }

    /// Signals the end of the input.
    void end() {
        parser.atEOF();
        parser.parseNext(BufferUtil.EMPTY_BUFFER);
        refuseBroken();
        if (!headRead) {
            throw bad("it closed the connection without an answer");
        }
    }

    /// Returns the response head if it is complete.
    Optional<ResponseHead> head() {
        return headRead ? Optional.of(new ResponseHead(status, headers)) : Optional.empty();
    }

    /// Skips an informational response. The limits stop a program that sends them without end.
    void skipInformational() {
        informational++;
        informationalBytes += parser.getHeaderLength();
        if (informational > MAX_INFORMATIONAL || informationalBytes > MAX_INFORMATIONAL_BYTES) {
            throw bad("it sent more than " + MAX_INFORMATIONAL + " informational responses or "
                    + MAX_INFORMATIONAL_BYTES / 1024 + " KiB of them before its answer");
        }
        parser.reset();
        headers = HttpFields.build();
        headRead = false;
        whole = false;
    }

    /// Takes the piece of the body that [#advance] found, if there is one.
    Optional<ByteBuffer> takeContent() {
        Optional<ByteBuffer> found = Optional.ofNullable(content);
        content = null;
        return found;
    }

    /// Reports whether the response is complete.
    boolean isWhole() {
        return whole;
    }

    private void refuseBroken() {
        if (broken != null) {
            throw bad(broken);
        }
    }

    private SandboxException bad(String why) {
        return new SandboxException(new Failure.BadAnswer("port " + port, why));
    }

    private final class Events implements HttpParser.ResponseHandler {
        @Override
        public void startResponse(HttpVersion version, int code, @Nullable String reason) {
            status = code;
            if (code > MAX_STATUS) {
                broken = "its status is " + code;
            } else if (version.compareTo(HttpVersion.HTTP_1_0) < 0 || version.compareTo(HttpVersion.HTTP_1_1) > 0) {
                broken = "it speaks " + version;
            }
        }

        @Override
        public void parsedHeader(HttpField field) {
            headers.add(field);
        }

        @Override
        public boolean headerComplete() {
            headRead = true;
            return true;
        }

        @Override
        public boolean content(ByteBuffer piece) {
            content = piece;
            return true;
        }

        @Override
        public boolean contentComplete() {
            return false;
        }

        @Override
        public boolean messageComplete() {
            whole = true;
            return true;
        }

        @Override
        public void earlyEOF() {
            broken = headRead ? "it closed the connection in the middle of its answer" : "it closed the connection";
        }

        @Override
        public void badMessage(HttpException failure) {
            broken = Optional.ofNullable(failure.getReason()).orElse("it cannot be read");
        }
    }
}
