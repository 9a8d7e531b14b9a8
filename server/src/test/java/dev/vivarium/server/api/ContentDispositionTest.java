package dev.vivarium.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContentDispositionTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "a.txt",
                "a\"b",
                "a\r\nSet-Cookie: x=1",
                "€uro naïve.txt",
                "a;b=c",
                "semi'colon",
                "x\\y",
                "%22",
                "\u0000"
            })
    void fileNamesAreEscapedInTheHeader(String name) {
        String header = ContentDisposition.attachment("dir/" + name);

        assertThat(header)
                .matches("attachment; filename=\"[ -~&&[^\"\\\\]]*\"; filename\\*=UTF-8''[!-~&&[^\"\\\\;,]]*");
        assertThat(ContentDisposition.parse(header).filename()).contains(name);
    }

    @Test
    void headersOfClientsAreParsed() {
        assertThat(parse("form-data; name=\"file\"; filename=\"a b.txt\"")).isEqualTo("file|a b.txt");
        assertThat(parse("form-data; name=file; filename=a.txt")).isEqualTo("file|a.txt");
        assertThat(parse("form-data; name=\"file\"; filename=\"q\\\"uote;.txt\""))
                .isEqualTo("file|q\"uote;.txt");
        assertThat(parse("form-data; name=\"file\"; filename=\"q%22uote.txt\"")).isEqualTo("file|q\"uote.txt");
        assertThat(parse("form-data; name=\"file\"; filename*=utf-8''na%C3%AFve%2B.txt"))
                .isEqualTo("file|naïve+.txt");
        assertThat(parse("form-data; NAME=\"session_id\"")).isEqualTo("session_id|-");
        assertThat(parse("form-data")).isEqualTo("-|-");
    }

    private static String parse(String header) {
        var parsed = ContentDisposition.parse(header);
        return parsed.name().orElse("-") + "|" + parsed.filename().orElse("-");
    }
}
