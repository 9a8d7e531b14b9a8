package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import java.security.SecureRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class GuestErrorTest {
    private static final SandboxId ID = SandboxId.random(new SecureRandom());
    private static final RequestSubject FILE = new RequestSubject.File("a/b", "c");
    private static final RequestSubject PROGRAM = new RequestSubject.Program("tool");
    private static final RequestSubject LISTENER = new RequestSubject.Port("port 80");

    @ParameterizedTest
    @EnumSource
    void everyCodeMapsToAFailureForEverySubject(GuestError.Code code) {
        for (RequestSubject subject : new RequestSubject[] {FILE, PROGRAM, LISTENER, new RequestSubject.Machine()}) {
            assertThat(refused(code, subject).sentence()).isNotBlank();
        }
    }

    @Test
    void codeMapsToAFailureOfItsSubject() {
        assertThat(refused(GuestError.Code.NOT_FOUND, FILE)).isEqualTo(new Failure.NoSuchFile("a/b"));
        assertThat(refused(GuestError.Code.NOT_FOUND, PROGRAM)).isInstanceOf(Failure.CannotRun.class);
        assertThat(refused(GuestError.Code.NOT_PERMITTED, FILE)).isEqualTo(new Failure.FileNotPermitted("a/b"));
        assertThat(refused(GuestError.Code.NOT_PERMITTED, PROGRAM)).isInstanceOf(Failure.CannotRun.class);
        assertThat(refused(GuestError.Code.EXISTS, FILE)).isEqualTo(new Failure.FileExists("c"));
        assertThat(refused(GuestError.Code.REFUSED, LISTENER)).isEqualTo(new Failure.ConnectionRefused("port 80"));
        assertThat(refused(GuestError.Code.ESCAPES, FILE)).isEqualTo(new Failure.PathEscapes("a/b"));
        assertThat(refused(GuestError.Code.NOT_EMPTY, FILE)).isInstanceOf(Failure.WrongFileType.class);
        assertThat(refused(GuestError.Code.BUSY, PROGRAM)).isEqualTo(new Failure.TooManyCommands(ID, 20));
        assertThat(refused(GuestError.Code.NO_SPACE, FILE)).isEqualTo(new Failure.DiskFull(ID));
        assertThat(refused(GuestError.Code.PROCESS_LIMIT, PROGRAM)).isEqualTo(new Failure.ProcessLimitReached(ID));
        assertThat(refused(GuestError.Code.TOO_MANY_FILES, FILE)).isEqualTo(new Failure.TooManyFiles(20, 9));
    }

    @Test
    void unknownCodeIsAPlatformFailure() {
        assertThat(GuestError.Code.of(19)).isEqualTo(GuestError.Code.UNKNOWN);
        assertThat(GuestError.Code.of(65_535)).isEqualTo(GuestError.Code.UNKNOWN);
        assertThat(GuestError.Code.of(18)).isEqualTo(GuestError.Code.NOT_EMPTY);
        assertThat(refused(GuestError.Code.UNKNOWN, FILE).owner()).isEqualTo(Failure.Owner.PLATFORM);
    }

    private static Failure refused(GuestError.Code code, RequestSubject subject) {
        return new GuestError(code, 10, 20, "").about(subject, ID);
    }
}
