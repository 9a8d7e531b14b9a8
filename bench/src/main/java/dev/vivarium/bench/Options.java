package dev.vivarium.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Options of the command line. Immutable.
///
/// @param only     the one measurement to run, or all of them
/// @param launcher the `viv` under test
/// @param output   path of the JSON file
record Options(Length length, Optional<String> only, Engine docker, Misses misses, Path launcher, Path output) {
    static final String USAGE = """
            usage: bench [--quick] [--only NAME] [--no-docker] [--strict] [--launcher FILE] [--out FILE]

              --quick          a tenth of the rounds
              --only NAME      one measurement: %s
              --no-docker      without the Docker Engine beside it
              --strict         exit code 1 when a bar is missed
              --launcher FILE  the viv to measure (bin/viv)
              --out FILE       where the JSON goes (bench/results/latest.json)
            """;

    enum Length {
        FULL,
        QUICK
    }

    /// Whether to compare with a Docker Engine.
    enum Engine {
        IF_THERE,
        NEVER
    }

    /// Effect of a missed limit on the exit code.
    enum Misses {
        SHOWN,
        FAIL
    }

    static final Options STANDARD = new Options(
            Length.FULL,
            Optional.empty(),
            Engine.IF_THERE,
            Misses.SHOWN,
            Path.of("bin/viv"),
            Path.of("bench/results/latest.json"));

    /// Parses a command line. Throws `IllegalArgumentException` with a sentence if it is invalid.
    static Options parse(List<String> arguments) {
        Options options = STANDARD;
        var rest = arguments.iterator();
        while (rest.hasNext()) {
            String argument = rest.next();
            options = switch (argument) {
                case "--quick" -> options.with(Length.QUICK);
                case "--no-docker" -> options.with(Engine.NEVER);
                case "--strict" -> options.with(Misses.FAIL);
                case "--only", "--launcher", "--out" -> {
                    if (!rest.hasNext()) {
                        throw new IllegalArgumentException(argument + " needs a value");
                    }
                    yield options.with(argument, rest.next());
                }
                default -> throw new IllegalArgumentException("unknown option " + argument);
            };
        }
        return options;
    }

    private Options with(Length wanted) {
        return new Options(wanted, only, docker, misses, launcher, output);
    }

    private Options with(Engine wanted) {
        return new Options(length, only, wanted, misses, launcher, output);
    }

    private Options with(Misses wanted) {
        return new Options(length, only, docker, wanted, launcher, output);
    }

    private Options with(String option, String value) {
        return switch (option) {
            case "--only" -> new Options(length, Optional.of(value), docker, misses, launcher, output);
            case "--launcher" -> new Options(length, only, docker, misses, Path.of(value), output);
            default -> new Options(length, only, docker, misses, launcher, Path.of(value));
        };
    }
}
