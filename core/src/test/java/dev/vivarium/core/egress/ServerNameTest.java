package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

final class ServerNameTest {
    /// Returns the ClientHello of a real client.
    static byte[] clientHello(String... names) {
        try {
            SSLEngine engine = SSLContext.getDefault().createSSLEngine();
            engine.setUseClientMode(true);
            var parameters = engine.getSSLParameters();
            parameters.setServerNames(
                    List.copyOf(Arrays.stream(names).map(SNIHostName::new).toList()));
            engine.setSSLParameters(parameters);
            ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), hello);
            return Arrays.copyOf(hello.array(), hello.position());
        } catch (GeneralSecurityException | SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void completeClientHelloContainsTheServerName() {
        byte[] hello = clientHello("api.example.test");
        for (int length = 0; length < hello.length; length++) {
            assertThat(ServerName.in(Arrays.copyOf(hello, length))).isInstanceOf(ServerName.Unfinished.class);
        }
        assertThat(ServerName.in(hello)).isEqualTo(new ServerName.Found("api.example.test"));
    }

    @Test
    void nameSplitIntoManyRecordsIsFound() {
        byte[] hello = clientHello("api.example.test");
        ByteBuffer split = ByteBuffer.allocate(10 * hello.length);
        for (int at = 5; at < hello.length; at++) {
            split.put(hello, 0, 3).putShort((short) 1).put(hello[at]);
        }
        assertThat(ServerName.in(Arrays.copyOf(split.array(), split.position())))
                .isEqualTo(new ServerName.Found("api.example.test"));
    }

    @Test
    void serverNameIsAbsentWithoutSniOrTls() {
        assertThat(ServerName.in(clientHello())).isEqualTo(new ServerName.Absent());
        assertThat(ServerName.in("SSH-2.0-OpenSSH".getBytes(java.nio.charset.StandardCharsets.US_ASCII)))
                .isEqualTo(new ServerName.Absent());
    }

    @Test
    void mutatedClientHelloNeverThrows() {
        byte[] hello = clientHello("api.example.test");
        for (int seed = 0; seed < 100_000; seed++) {
            var random = new SplittableRandom(seed);
            byte[] bytes = hello.clone();
            for (int i = random.nextInt(1, 6); i > 0; i--) {
                bytes[random.nextInt(1, bytes.length)] = (byte) random.nextInt();
            }
            assertThat(ServerName.in(bytes)).as("seed " + seed).isNotNull();
        }
    }
}
