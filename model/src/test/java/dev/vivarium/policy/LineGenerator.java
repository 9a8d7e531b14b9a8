package dev.vivarium.policy;

import java.util.List;
import java.util.Random;

/// Generates command lines that the parser nearly accepts, mixed with fragments that parsers often misread. Confined to
/// one thread.
final class LineGenerator {
    static final List<String> COMMANDS = List.of("ls", "cat", "grep", "echo", "wc");

    private static final List<String> WORDS = List.of(
            "a",
            "b2",
            "x=y",
            "-n",
            "--flag=v",
            "./f",
            "a#b",
            "'q r'",
            "\"q r\"",
            "'$(id)'",
            "\"\\$x\"",
            "\"\\`id\\`\"",
            "\\;",
            "\\|",
            "'|'",
            "a\\ b",
            "''",
            "\"\"",
            "'a\nid\nb'",
            "\"a;id\"",
            "\"\\\"id\"",
            "'\"'",
            "\"'\"",
            "!",
            "x!=y",
            "zz*",
            "zz?[a]",
            "id",
            "touch",
            "if",
            "then",
            "2",
            "1",
            "{",
            "a\"b\"'c'\\d",
            "\"\\x\"",
            "\"\\\\\"",
            "\\\\",
            "\\'",
            "\\\"",
            "'\\'",
            "%d",
            "+x",
            "a,b",
            "@",
            "^a",
            ":",
            "\"!\"",
            "'\u00e9'",
            "\"a\tb\"");

    private static final List<String> SEPARATORS =
            List.of(" ; ", ";", " | ", "|", " && ", "&&", "\n", " ;\n", " |\n ", " &&\n", " || ", "\n\n");

    private static final List<String> REDIRECTS = List.of(
            " > out.1",
            " >out.2",
            " 2>&1",
            " 2> out.3",
            " >> out.4",
            " < in.txt",
            " 0<in.txt",
            " >&2",
            " 2>/dev/null",
            ">out.5",
            "2>out.6",
            " 1>out.7 ");

    private static final List<String> NOISE = List.of(
            "'",
            "\"",
            "\\",
            "$",
            "`",
            "(",
            ")",
            "{",
            "}",
            "&",
            "|",
            ";",
            "<",
            ">",
            "#",
            "!",
            "~",
            "*",
            "[",
            "]",
            "=",
            "\n",
            "\t",
            " ",
            "$(id)",
            "`id`",
            "${x}",
            "\\\n",
            "id",
            " id ",
            ";id",
            "|id",
            "\nid\n",
            "&&id",
            " # ",
            "2",
            ">&",
            "<<",
            "|&",
            "time ",
            "x=1 ",
            "\r",
            "\u00a0",
            "ls",
            "''",
            "\"\"",
            "\\;id",
            "';id;'",
            "\";id;\"");

    private final Random random;

    LineGenerator(long seed) {
        this.random = new Random(seed);
    }

    String next() {
        var line = new StringBuilder();
        int commands = 1 + random.nextInt(4);
        for (int i = 0; i < commands; i++) {
            line.append(i == 0 ? "" : any(SEPARATORS));
            command(line);
        }
        int noise = random.nextInt(3);
        for (int i = 0; i < noise; i++) {
            line.insert(random.nextInt(line.length() + 1), any(NOISE));
        }
        return line.toString();
    }

    private void command(StringBuilder line) {
        line.append(any(COMMANDS));
        int words = random.nextInt(4);
        for (int i = 0; i < words; i++) {
            line.append(random.nextInt(8) == 0 ? "\t " : " ").append(any(WORDS));
        }
        if (random.nextInt(4) == 0) {
            line.append(any(REDIRECTS));
        }
    }

    private String any(List<String> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
