package dev.vivarium.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReservedVariablesTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "PATH",
                "LD_PRELOAD",
                "LD_LIBRARY_PATH",
                "LD_AUDIT",
                "BASH_ENV",
                "ENV",
                "IFS",
                "SHELLOPTS",
                "BASHOPTS",
                "BASH_FUNC_ls%%",
                "BASH_LOADABLES_PATH",
                "PS4",
                "PROMPT_COMMAND",
                "GLOBIGNORE",
                "CDPATH",
                "SHELL",
                "PYTHONPATH",
                "PYTHONSTARTUP",
                "PYTHONHOME",
                "PYTHONINSPECT",
                "PYTHONBREAKPOINT",
                "PERL5OPT",
                "PERL5LIB",
                "PERLLIB",
                "RUBYOPT",
                "RUBYLIB",
                "NODE_OPTIONS",
                "GIT_SSH_COMMAND",
                "GIT_SSH",
                "GIT_EXTERNAL_DIFF",
                "GIT_PAGER",
                "GIT_CONFIG_COUNT",
                "GIT_EXEC_PATH",
                "RESTIC_PASSWORD_COMMAND",
                "PAGER",
                "MANPAGER",
                "EDITOR",
                "VISUAL",
                "SYSTEMD_PAGER",
                "LESSOPEN",
                "JAVA_TOOL_OPTIONS",
                "GLIBC_TUNABLES",
                "GCONV_PATH",
                "AWKLIBPATH",
                "POSIXLY_CORRECT",
                "TAR_OPTIONS",
                "SSH_ASKPASS"
            })
    void variableThatAffectsExecutionIsReserved(String name) {
        assertThat(ReservedVariables.contains(name)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HOME",
                "LANG",
                "LC_ALL",
                "TZ",
                "TERM",
                "API_KEY",
                "MODE",
                "PATHS",
                "MY_PATH",
                "HTTP_PROXY",
                "PYTHONUNBUFFERED",
                "PYTHONIOENCODING",
                "GIT_AUTHOR_NAME",
                "GIT_COMMITTER_EMAIL",
                "COMMAND",
                "path"
            })
    void dataVariableIsNotReserved(String name) {
        assertThat(ReservedVariables.contains(name)).isFalse();
    }
}
