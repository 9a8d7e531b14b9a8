package dev.vivarium.testing;

import org.junit.jupiter.api.extension.RegisterExtension;

class FileEventsTest extends FileEventsContract {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    @Override
    TestServer server() {
        return SERVER.get();
    }
}
