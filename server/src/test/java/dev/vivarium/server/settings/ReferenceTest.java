package dev.vivarium.server.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReferenceTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "configuration.md");

    @Test
    void referencePageListsExactlyTheSettings() throws IOException {
        List<String> rows = Files.readAllLines(PAGE).stream()
                .filter(line -> line.startsWith("| `--"))
                .toList();

        assertThat(rows)
                .containsExactlyElementsOf(
                        Catalogue.ALL.stream().map(ReferenceTest::row).toList());
    }

    private static String row(Setting<?> setting) {
        String alias = setting.alias().isEmpty() ? "" : ", `" + setting.alias() + "`";
        String standard = setting.standard().isEmpty() ? "–" : "`" + setting.standard() + "`";
        return "| `--" + setting.key() + "` | `" + setting.variable() + "`" + alias + " | " + standard + " | "
                + setting.meaning() + " |";
    }
}
