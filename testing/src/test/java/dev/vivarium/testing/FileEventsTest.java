package dev.vivarium.testing;

import java.nio.file.Path;
import org.junit.jupiter.api.extension.RegisterExtension;

class FileEventsTest extends FileEventsContract {
    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    @Override
    TestServer server() {
        return SERVER.get();
    }

    @Override
    long guest(String sandbox) {
        return Long.parseLong(
                SERVER.api().execute(sandbox, "echo $PPID").string("stdout").strip());
    }

    @Override
    Path outside(String sandbox, String path) {
        return Path.of(path);
    }
}
