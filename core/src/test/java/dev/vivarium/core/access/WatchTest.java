package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class WatchTest extends TokensFixture {
    @Test
    void aWatchIsToldOnceWhyItsTokenEnded() {
        var heard = new AtomicReference<Watch.Ended>();
        var issued = issue("shell");
        try (var watch = tokens.watch(issued.grant(), heard::set)) {
            tokens.revoke(BOX, issued.grant().jti());
            await().until(() -> heard.get() == Watch.Ended.REVOKED);
            tokens.rotate(BOX);
            assertThat(watch.grant()).isEqualTo(issued.grant());
        }
        assertThat(heard).hasValue(Watch.Ended.REVOKED);
    }

    @Test
    void aWatchHearsOfEveryKindOfEnd() {
        assertThat(endOf(() -> tokens.rotate(BOX))).isEqualTo(Watch.Ended.ROTATED);
        assertThat(endOf(() -> tokens.uninvited(THREAD, ANNA))).isEqualTo(Watch.Ended.UNINVITED);
        assertThat(endOf(() -> pass(Duration.ofMinutes(16)))).isEqualTo(Watch.Ended.EXPIRED);
        assertThat(endOf(() -> tokens.forget(BOX))).isEqualTo(Watch.Ended.SANDBOX_ENDED);
    }

    @Test
    void aWatchOfADeadTokenIsToldAtOnce() {
        var issued = issue("shell");
        tokens.rotate(BOX);
        var heard = new AtomicReference<Watch.Ended>();

        try (var _ = tokens.watch(issued.grant(), heard::set)) {
            await().until(() -> heard.get() == Watch.Ended.ROTATED);
        }
    }

    @Test
    void aTokenThatWasReplacedIsNotARevokedOne() {
        var revoked = EnumSet.of(Watch.Ended.REVOKED);
        var all = new AtomicReference<Watch.Ended>();
        var some = new AtomicReference<Watch.Ended>();
        var issued = issue("shell");
        try (var _ = tokens.watch(issued.grant(), all::set);
                var _ = tokens.watch(issued.grant(), revoked, some::set)) {
            tokens.replace(issued.grant(), wanted("shell"));
            pass(Duration.ofSeconds(31));
            await().until(() -> all.get() == Watch.Ended.REPLACED);
            assertThat(some).hasNullValue();

            tokens.revoke(BOX, issued.grant().jti());
            await().until(() -> some.get() == Watch.Ended.REVOKED);
        }
    }

    private Watch.Ended endOf(Runnable end) {
        var heard = new AtomicReference<Watch.Ended>();
        try (var _ = tokens.watch(issue("shell").grant(), heard::set)) {
            end.run();
            await().until(() -> heard.get() != null);
        }
        return heard.get();
    }
}
