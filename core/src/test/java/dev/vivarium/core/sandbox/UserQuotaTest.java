package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UserQuotaTest {
    private static final int SHARE_PERCENT = 80;

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "3, 2", "4, 3", "5, 4", "100, 80"})
    void shareLeavesAPlaceForOthersUnlessThereIsOnlyOne(int places, int max) {
        assertThat(new UserQuota(0, SHARE_PERCENT, 0, 0, 0).maxSandboxes(places))
                .isEqualTo(max);
    }
}
