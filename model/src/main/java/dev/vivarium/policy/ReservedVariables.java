package dev.vivarium.policy;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// Environment variables that determine which program runs, or what a program runs or reads first. Stateless.
///
/// They configure the search path, the loader, the shell, start-up code of interpreters, and programs that other
/// programs start. If only listed commands may run, a client must not set them.
public final class ReservedVariables {
    private static final Set<String> NAMES = Set.of(
            // The shell and the search path.
            "PATH",
            "CDPATH",
            "ENV",
            "IFS",
            "SHELL",
            "SHELLOPTS",
            "PS0",
            "PS1",
            "PS2",
            "PS3",
            "PS4",
            "GLOBIGNORE",
            "EXECIGNORE",
            "POSIXLY_CORRECT",
            // The loader and the C library.
            "GLIBC_TUNABLES",
            "GCONV_PATH",
            "LOCPATH",
            "NLSPATH",
            "MALLOC_TRACE",
            // Interpreters.
            "AWKPATH",
            "AWKLIBPATH",
            "PERLLIB",
            "RUBYOPT",
            "RUBYLIB",
            "NODE_OPTIONS",
            "NODE_PATH",
            "CLASSPATH",
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "_JAVA_OPTIONS",
            "PHPRC",
            "PHP_INI_SCAN_DIR",
            "LUA_INIT",
            // Programs that other programs start, and their options.
            "PAGER",
            "MANPAGER",
            "LESSOPEN",
            "LESSCLOSE",
            "EDITOR",
            "VISUAL",
            "BROWSER",
            "TAR_OPTIONS",
            "MAKEFILES",
            "MAKEFLAGS",
            "GREP_OPTIONS");

    private static final List<String> PREFIXES = List.of("LD_", "BASH", "GIT_", "PERL5", "LUA_PATH", "LUA_CPATH");
    private static final List<String> SUFFIXES =
            List.of("_COMMAND", "_PAGER", "_EDITOR", "_ASKPASS", "_PRELOAD", "_INIT_FILE");

    /// Variables of these prefixes that start no program, such as the author and date of a commit.
    private static final Pattern HARMLESS =
            Pattern.compile("GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|PYTHON(UNBUFFERED|IOENCODING|UTF8|HASHSEED"
                    + "|DONTWRITEBYTECODE|FAULTHANDLER|OPTIMIZE)");

    private ReservedVariables() {}

    public static boolean contains(String name) {
        if (HARMLESS.matcher(name).matches()) {
            return false;
        }
        return NAMES.contains(name)
                || name.startsWith("PYTHON")
                || PREFIXES.stream().anyMatch(name::startsWith)
                || SUFFIXES.stream().anyMatch(name::endsWith);
    }
}
