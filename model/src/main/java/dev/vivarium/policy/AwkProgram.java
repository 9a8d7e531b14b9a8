package dev.vivarium.policy;

import java.util.regex.Pattern;

/// Detector of constructs by which an awk program starts other programs. Stateless.
///
/// It searches the text and does not parse the language, because tokenizing awk requires knowing where a regular
/// expression may occur. It therefore also rejects harmless programs that contain such text, for example in a string.
final class AwkProgram {
    /// GNU awk: `@load`, `@include`, and indirect function calls.
    private static final Pattern DIRECTIVE = Pattern.compile("@\\s*[A-Za-z_]");

    private AwkProgram() {}

    static void check(String program) {
        refuseIf(program.contains("system"), "system");
        refuseIf(program.contains("getline"), "getline");
        refuseIf(program.contains("\\\n"), "a continued line");
        refuseIf(DIRECTIVE.matcher(program).find(), "@");
        refuseIf(hasPipe(program), "|");
    }

    /// Two bars are the logical or. Any other number of bars may contain a pipe.
    private static boolean hasPipe(String program) {
        int bars = 0;
        for (int i = 0; i < program.length(); i++) {
            if (program.charAt(i) == '|') {
                bars++;
            } else if (bars == 0 || bars == 2) {
                bars = 0;
            } else {
                return true;
            }
        }
        return bars != 0;
    }

    private static void refuseIf(boolean found, String what) {
        if (found) {
            throw new NotUnderstood("awk programs that contain '" + what + "' are not accepted under this policy");
        }
    }
}
