package dev.vivarium.core.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class StreamBridgeTest {
    @Test
    void aFailedAcceptClosesTheOtherEnd() throws Exception {
        var stream = new GuestStream.Bytes(InputStream.nullInputStream(), OutputStream.nullOutputStream());
        try (var listener = new FailingListener()) {
            assertThatThrownBy(() -> StreamBridge.start(stream, () -> listener))
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("no descriptor is free");

            try (SocketChannel accepted = listener.accepted) {
                accepted.configureBlocking(false);
                assertThat(accepted.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
        assertThatThrownBy(() -> stream.in().read()).hasMessageContaining("closed");
    }

    /// Accepts a connection and then fails.
    private static final class FailingListener extends ServerSocketChannel {
        private final ServerSocketChannel real;
        private SocketChannel accepted;

        FailingListener() throws IOException {
            this(ServerSocketChannel.open(StandardProtocolFamily.UNIX));
        }

        private FailingListener(ServerSocketChannel real) {
            super(real.provider());
            this.real = real;
        }

        @Override
        public SocketChannel accept() throws IOException {
            accepted = real.accept();
            throw new IOException("no descriptor is free");
        }

        @Override
        public ServerSocketChannel bind(SocketAddress address, int backlog) throws IOException {
            real.bind(address, backlog);
            return this;
        }

        @Override
        public SocketAddress getLocalAddress() throws IOException {
            return real.getLocalAddress();
        }

        @Override
        protected void implCloseSelectableChannel() throws IOException {
            real.close();
        }

        @Override
        protected void implConfigureBlocking(boolean block) throws IOException {
            real.configureBlocking(block);
        }

        @Override
        public ServerSocket socket() {
            return real.socket();
        }

        @Override
        public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
            real.setOption(name, value);
            return this;
        }

        @Override
        public <T> T getOption(SocketOption<T> name) throws IOException {
            return real.getOption(name);
        }

        @Override
        public Set<SocketOption<?>> supportedOptions() {
            return real.supportedOptions();
        }
    }
}
