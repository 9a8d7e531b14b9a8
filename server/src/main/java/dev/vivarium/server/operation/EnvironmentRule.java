package dev.vivarium.server.operation;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.policy.CommandPolicy;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// Rule for the environment variables that a caller may set. Immutable.
///
/// It refuses variables that make the loader or the shell run another program first. The command in the log is
/// therefore the command that ran. Under an allow-list, it also refuses variables that change which program a listed
/// name runs.
public final class EnvironmentRule {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");
    private static final Set<String> RESERVED =
            Set.of("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "PS4", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH");
    private static final int MAX_VARIABLES = 256;
    private static final int MAX_VALUE = 32 * 1024;

    private final CommandPolicy policy;

    public EnvironmentRule(CommandPolicy policy) {
        this.policy = policy;
    }

    public void check(Map<String, String> env) {
        if (env.size() > MAX_VARIABLES) {
            throw invalid("env", "must hold at most " + MAX_VARIABLES + " variables");
        }
        env.forEach(this::check);
    }

    private void check(String name, String value) {
        if (!NAME.matcher(name).matches()) {
            throw invalid("env", "must have names of letters, digits and '_' that do not begin with a digit");
        }
        if (name.startsWith("LD_") || name.startsWith("BASH_FUNC_") || RESERVED.contains(name)) {
            throw invalid("env." + name, "is reserved: it would change what a command runs");
        }
        if (!policy.allowsVariable(name)) {
            throw invalid("env." + name, "is reserved while a list says which commands may run");
        }
        if (value.length() > MAX_VALUE) {
            throw invalid("env." + name, "must be at most " + MAX_VALUE + " characters");
        }
        if (value.indexOf('\0') >= 0) {
            throw invalid("env." + name, "must not hold a NUL character");
        }
    }

    private static SandboxException invalid(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }
}
