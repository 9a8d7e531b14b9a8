package dev.vivarium.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

/// Size limits. Files named after the main noun of a product tend to grow without limit, so `Sandbox` has its own
/// limit.
class BudgetsTest {
    /// A limit of 400 made authors shorten text instead of splitting files. A file of more than 600 lines holds two
    /// ideas.
    private static final int FILE_LINES = 600;

    private static final int SANDBOX_LINES = 400;
    private static final int METHOD_LINES = 40;
    private static final int PARAMETERS = 5;
    private static final int CONSTRUCTOR_PARAMETERS = 7;
    private static final int GUEST_BYTES = 1024 * 1024;

    /// Files that may be longer, each with the reason.
    private static final Map<String, String> LONG_FILES = Map.of();

    /// Methods that may be longer, as `File.method`, each with the reason.
    private static final Map<String, String> LONG_METHODS = Map.of();

    private static final Sources SOURCES = Sources.parse();

    @Test
    void filesAreShort() {
        Map<String, Integer> tooLong = new TreeMap<>();
        for (Path file : Repository.mainSources()) {
            int lines = Repository.lines(file).size();
            if (lines > FILE_LINES && !LONG_FILES.containsKey(file.getFileName().toString())) {
                tooLong.put(Repository.relative(file), lines);
            }
        }
        assertThat(tooLong)
                .as("files have at most %d lines: split the file", FILE_LINES)
                .isEmpty();
    }

    @Test
    void sandboxClassIsShort() {
        assertThat(Repository.mainSources())
                .filteredOn(file -> file.endsWith("Sandbox.java"))
                .isNotEmpty()
                .allSatisfy(file -> assertThat(Repository.lines(file)).hasSizeLessThanOrEqualTo(SANDBOX_LINES));
    }

    @Test
    void methodsAreShortAndTakeFewParameters() {
        Set<String> violations = new TreeSet<>();
        for (CompilationUnitTree unit : SOURCES.units()) {
            new MethodBudgets(unit, violations).scan(unit, null);
        }
        assertThat(violations).isEmpty();
    }

    @Test
    void publicLibraryTypesHaveADocComment() {
        Set<String> violations = new TreeSet<>();
        for (CompilationUnitTree unit : SOURCES.units()) {
            new TypeDocs(unit, violations).scan(unit, null);
        }
        assertThat(violations).as("types without a doc comment").isEmpty();
    }

    @Test
    void guestBinaryIsSmall() throws IOException {
        try (var guest = getClass().getResourceAsStream("/dev/vivarium/guest/vivarium-guest")) {
            assertThat(guest).isNotNull();
            assertThat(guest.readAllBytes()).hasSizeLessThanOrEqualTo(GUEST_BYTES);
        }
    }

    private static String fileName(CompilationUnitTree unit) {
        return Path.of(unit.getSourceFile().getName()).getFileName().toString();
    }

    private static final class MethodBudgets extends TreePathScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final Set<String> violations;

        MethodBudgets(CompilationUnitTree unit, Set<String> violations) {
            this.unit = unit;
            this.violations = violations;
        }

        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
            String name = fileName(unit).replace(".java", ".") + method.getName();
            long lines = SOURCES.lines(unit, method);
            if (lines > METHOD_LINES && !LONG_METHODS.containsKey(name)) {
                violations.add("%s has %d lines, of at most %d".formatted(name, lines, METHOD_LINES));
            }
            int allowed = method.getName().contentEquals("<init>") ? CONSTRUCTOR_PARAMETERS : PARAMETERS;
            if (method.getParameters().size() > allowed && isLimited(method)) {
                violations.add("%s has %d parameters, of at most %d"
                        .formatted(name, method.getParameters().size(), allowed));
            }
            return super.visitMethod(method, null);
        }

        /// Components of a record are its data, and an overridden method fixes the parameters of an override.
        private boolean isLimited(MethodTree method) {
            boolean overrides = method.getModifiers().getAnnotations().stream()
                    .anyMatch(annotation ->
                            annotation.getAnnotationType().toString().equals("Override"));
            return !overrides && getCurrentPath().getParentPath().getLeaf().getKind() != Tree.Kind.RECORD;
        }
    }

    /// Checks top-level public types only. The doc comment of a type covers its nested types.
    private static final class TypeDocs extends TreePathScanner<Void, Void> {
        private static final Set<String> LIBRARY = Set.of("model/", "core/", "json/", "sdk/", "sdk-local/");
        private final CompilationUnitTree unit;
        private final Set<String> violations;

        TypeDocs(CompilationUnitTree unit, Set<String> violations) {
            this.unit = unit;
            this.violations = violations;
        }

        @Override
        public Void visitClass(ClassTree type, Void nothing) {
            String file = Repository.relative(Path.of(unit.getSourceFile().toUri()));
            boolean isPublic = type.getModifiers().getFlags().contains(Modifier.PUBLIC);
            boolean inLibrary = LIBRARY.stream().anyMatch(file::startsWith);
            if (isPublic && inLibrary && SOURCES.trees().getDocComment(getCurrentPath()) == null) {
                violations.add(file);
            }
            return null;
        }
    }
}
