# shellcheck shell=sh
# Sourced by the launcher and by the build. Sets JAVA_HOME to a JDK 25, or fails.
#
# The AOT cache is bound to one exact JDK, so the search order decides which one trains it and which one
# uses it: keep it the same for both, which is why this is one file.

is_java_25() {
    [ -x "$1/bin/java" ] && [ -r "$1/release" ] || return 1
    while IFS= read -r line; do
        case $line in JAVA_VERSION=\"25*) return 0 ;; esac
    done <"$1/release"
    return 1
}

find_java() {
    for home in "${JAVA_HOME:-}" /usr/lib/jvm/*25* /opt/java/*25* /opt/jdk*25* "${HOME:-/root}"/.sdkman/candidates/java/25*; do
        if is_java_25 "$home"; then
            JAVA_HOME=$home
            export JAVA_HOME
            return 0
        fi
    done
    if on_path=$(command -v java) && on_path=$(readlink -f "$on_path") && is_java_25 "${on_path%/bin/java}"; then
        JAVA_HOME=${on_path%/bin/java}
        export JAVA_HOME
        return 0
    fi
    echo "no JDK 25 found: install one (temurin-25-jdk or openjdk-25-jdk) or set JAVA_HOME" >&2
    return 1
}
