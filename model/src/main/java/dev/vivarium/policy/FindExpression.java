package dev.vivarium.policy;

import dev.vivarium.policy.Token.Word;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Rule that accepts the tests and actions of find that only read and print. Stateless.
///
/// It checks every word with a leading dash, so that it does not depend on the number of arguments of a test.
final class FindExpression {
    private static final Set<String> HARMLESS = Stream.of(("-H -L -P -O0 -O1 -O2 -O3 -a -amin -and -anewer -atime -cmin"
                            + " -cnewer -ctime -d -daystart -depth -empty -executable -false -follow -fstype -gid"
                            + " -group -ignore_readdir_race -ilname -iname -inum -ipath -iregex -iwholename -links"
                            + " -lname -ls -maxdepth -mindepth -mmin -mount -mtime -name -newer -nogroup -noleaf -not"
                            + " -nouser -o -or -path -perm -print -print0 -printf -prune -quit -readable -regex"
                            + " -regextype -samefile -size -true -type -uid -used -user -wholename -writable -xdev"
                            + " -xtype")
                    .split(" "))
            .collect(Collectors.toUnmodifiableSet());

    /// `-newermt` and similar tests, and arguments that begin with a dash: `-mtime -7`, `-size -10k`, `-perm
    /// -u=rw,g+w`.
    private static final Pattern HARMLESS_FORM = Pattern.compile(
            "-newer[aBcm][aBcmt]|-[0-9]+(\\.[0-9]+)?[a-zA-Z]?|-[ugoa]+[=+][rwxXst]+(,[ugoa]+[=+][rwxXst]+)*");

    /// Bounds the recursion of the regular expression engine, which recurses once for each repetition.
    private static final int MAX_FORM_LENGTH = 100;

    private FindExpression() {}

    static void check(SimpleCommand command) {
        for (Word word : command.arguments()) {
            String text = word.text();
            if (word.looksLikeOption() && !HARMLESS.contains(text) && !hasHarmlessForm(text)) {
                throw new NotUnderstood("'" + command.word().text() + "' may not be given " + CommandNames.quoted(text)
                        + " under this policy");
            }
        }
    }

    private static boolean hasHarmlessForm(String text) {
        return text.length() <= MAX_FORM_LENGTH && HARMLESS_FORM.matcher(text).matches();
    }
}
