package dev.vivarium.core.guest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import java.security.SecureRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class RefusalTest {
    private static final SandboxId ID = SandboxId.random(new SecureRandom());
    private static final Subject FILE = new Subject.File("a/b", "c");
    private static final Subject PROGRAM = new Subject.Program("tool");
    private static final Subject LISTENER = new Subject.Listener("port 80");

    @ParameterizedTest
    @EnumSource
    void everyCodeIsAFailureForEverySubject(Refusal.Code code) {
        for (Subject subject : new Subject[] {FILE, PROGRAM, LISTENER, new Subject.Machine()}) {
            assertThat(refused(code, subject).sentence()).isNotBlank();
        }
    }

    @Test
    void theSameCodeMeansWhatItsSubjectMakesOfIt() {
        assertThat(refused(Refusal.Code.NOT_FOUND, FILE)).isEqualTo(new Failure.NoSuchFile("a/b"));
        assertThat(refused(Refusal.Code.NOT_FOUND, PROGRAM)).isInstanceOf(Failure.CannotRun.class);
        assertThat(refused(Refusal.Code.NOT_PERMITTED, FILE)).isEqualTo(new Failure.FileNotPermitted("a/b"));
        assertThat(refused(Refusal.Code.NOT_PERMITTED, PROGRAM)).isInstanceOf(Failure.CannotRun.class);
        assertThat(refused(Refusal.Code.EXISTS, FILE)).isEqualTo(new Failure.FileExists("c"));
        assertThat(refused(Refusal.Code.REFUSED, LISTENER)).isEqualTo(new Failure.ConnectionRefused("port 80"));
        assertThat(refused(Refusal.Code.ESCAPES, FILE)).isEqualTo(new Failure.PathEscapes("a/b"));
        assertThat(refused(Refusal.Code.NOT_EMPTY, FILE)).isInstanceOf(Failure.WrongFileType.class);
        assertThat(refused(Refusal.Code.BUSY, PROGRAM)).isEqualTo(new Failure.TooManyCommands(ID, 20));
        assertThat(refused(Refusal.Code.NO_SPACE, FILE)).isEqualTo(new Failure.DiskFull(ID));
        assertThat(refused(Refusal.Code.PROCESS_LIMIT, PROGRAM)).isEqualTo(new Failure.ProcessLimitReached(ID));
        assertThat(refused(Refusal.Code.TOO_MANY_FILES, FILE)).isEqualTo(new Failure.TooManyFiles(20, 9));
    }

    @Test
    void aCodeOfANewerGuestIsAFailureOfOurs() {
        assertThat(Refusal.Code.of(19)).isEqualTo(Refusal.Code.UNKNOWN);
        assertThat(Refusal.Code.of(65_535)).isEqualTo(Refusal.Code.UNKNOWN);
        assertThat(Refusal.Code.of(18)).isEqualTo(Refusal.Code.NOT_EMPTY);
        assertThat(refused(Refusal.Code.UNKNOWN, FILE).owner()).isEqualTo(Failure.Owner.PLATFORM);
    }

    private static Failure refused(Refusal.Code code, Subject subject) {
        return new Refusal(code, 10, 20, "").about(subject, ID);
    }
}
