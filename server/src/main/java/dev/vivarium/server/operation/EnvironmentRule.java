package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

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
        require(env.size() <= MAX_VARIABLES, "env", "must hold at most " + MAX_VARIABLES + " variables");
        env.forEach(this::check);
    }

    private void check(String name, String value) {
        require(
                NAME.matcher(name).matches(),
                "env",
                "must have names of letters, digits and '_' that do not begin with a digit");
        if (name.startsWith("LD_") || name.startsWith("BASH_FUNC_") || RESERVED.contains(name)) {
            throw SandboxException.invalid("env." + name, "is reserved: it would change what a command runs");
        }
        require(policy.allowsVariable(name), "env." + name, "is reserved while a list says which commands may run");
        require(value.length() <= MAX_VALUE, "env." + name, "must be at most " + MAX_VALUE + " characters");
        require(value.indexOf('\0') < 0, "env." + name, "must not hold a NUL character");
    }
}
