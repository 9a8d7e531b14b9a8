package dev.vivarium.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What things are called, and what the repository does not speak of.
class WordsTest {
    /// Names that accept any method. A bare `Service` is a word of the wire and allowed.
    private static final Pattern VAGUE =
            Pattern.compile(".+(Impl|Manager|Helper|Utils?|Service|Dto|DTO)|(Default|Abstract|Base)[A-Z].*");

    private static final Pattern DECISION = Pattern.compile("(\\d{3})-[a-z0-9-]+\\.md");

    /// Put together from pieces, because this file is searched too.
    private static final List<String> MACHINE_PATHS = List.of(
            "/" + "work/", "/" + "root/.cargo", "/" + "root/.m2", "/" + "tmp/bash", "temurin-25-jdk" + "-amd64");

    @Test
    void noClassHasANameThatAcceptsAnyMethod() {
        assertThat(Repository.mainSources())
                .extracting(file -> file.getFileName().toString().replace(".java", ""))
                .noneMatch(name -> VAGUE.matcher(name).matches());
    }

    @Test
    void decisionsAreNumberedWithoutGapsAndEachIsInTheIndex() throws IOException {
        Path directory = Repository.ROOT.resolve("docs/decisions");
        String index = Files.readString(directory.resolve("README.md"));
        List<String> pages = Repository.files(file -> file.getParent().equals(directory)
                        && DECISION.matcher(file.getFileName().toString()).matches())
                .stream()
                .map(file -> file.getFileName().toString())
                .toList();
        assertThat(pages)
                .extracting(name -> name.substring(0, 3))
                .containsExactlyElementsOf(IntStream.rangeClosed(1, pages.size())
                        .mapToObj("%03d"::formatted)
                        .toList());
        assertThat(pages).allSatisfy(name -> assertThat(index).contains("(" + name + ")"));
    }

    @Test
    void noFileNamesAPathOfSomebodysMachine() {
        Set<String> found = new TreeSet<>();
        for (Path file : Repository.files(file -> true)) {
            String text = textOf(file);
            MACHINE_PATHS.stream()
                    .filter(text::contains)
                    .forEach(path -> found.add(Repository.relative(file) + " has " + path));
        }
        assertThat(found).isEmpty();
    }

    @Test
    void nothingIsLeftToDoInTheSources() {
        Pattern leftover = Pattern.compile("\\b(TO" + "DO|FIX" + "ME|XX" + "X)\\b");
        List<String> found = new ArrayList<>();
        List<Path> sources = new ArrayList<>(Repository.mainSources());
        sources.addAll(Repository.files(file -> file.toString().endsWith(".rs")));
        for (Path file : sources) {
            if (leftover.matcher(textOf(file)).find()) {
                found.add(Repository.relative(file));
            }
        }
        assertThat(found).isEmpty();
    }

    /// Empty for a file that is not text.
    private static String textOf(Path file) {
        try {
            return Files.readString(file);
        } catch (MalformedInputException e) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(Repository.relative(file), e);
        }
    }
}
