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

/// Rules about names and texts of the repository.
class WordsTest {
    /// Names that do not limit the purpose of a class. A bare `Service` is a term of the guest protocol and is
    /// allowed.
    private static final Pattern VAGUE =
            Pattern.compile(".+(Impl|Manager|Helper|Utils?|Service|Dto|DTO)|(Default|Abstract|Base)[A-Z].*");

    private static final Pattern DECISION = Pattern.compile("(\\d{3})-[a-z0-9-]+\\.md");

    /// The literals are split, because the test searches this file as well.
    private static final List<String> MACHINE_PATHS = List.of(
            "/" + "work/", "/" + "root/.cargo", "/" + "root/.m2", "/" + "tmp/bash", "temurin-25-jdk" + "-amd64");

    @Test
    void noClassHasAVagueName() {
        assertThat(Repository.mainSources())
                .extracting(file -> file.getFileName().toString().replace(".java", ""))
                .noneMatch(name -> VAGUE.matcher(name).matches());
    }

    @Test
    void decisionsAreNumberedAndIndexed() throws IOException {
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
    void noFileContainsAMachinePath() {
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
    void sourcesContainNoTodo() {
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

    /// Returns the text of a file, or an empty string for a binary file.
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
