package dev.vivarium.server.settings;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.util.List;

/// Arguments of `viv serve`: the settings, and the flags, which apply to one start. Stateless.
public final class Usage {
    /// Adopts data in the home that has no row in the store. Neither the environment nor the file can set this
    /// flag.
    public static final String ADOPT = "--adopt";

    private Usage() {}

    /// Reports whether the arguments contain the flag.
    public static boolean hasAdopt(List<String> arguments) {
        require(arguments.stream().noneMatch(argument -> argument.startsWith(ADOPT + "=")), ADOPT, "takes no value");
        return arguments.contains(ADOPT);
    }

    /// Returns the arguments without flags.
    public static List<String> settings(List<String> arguments) {
        return arguments.stream().filter(argument -> !argument.equals(ADOPT)).toList();
    }

    /// Returns the text of `viv serve --help`.
    public static String help() {
        var text = new StringBuilder("usage: viv serve [--adopt] [--KEY VALUE] …\n\n"
                + "The same keys work in vivarium.yaml, and as VIV_KEY in the environment.\n\n"
                + "  --adopt\n"
                + "      Take over the disks and snapshots of the home that the store has no rows of.\n");
        for (Setting<?> setting : Catalogue.ALL) {
            String standard = setting.standard().isEmpty() ? "" : " (" + setting.standard() + ")";
            text.append("\n  --").append(setting.key()).append(standard);
            text.append("\n      ").append(setting.meaning().replace("`", "")).append('\n');
        }
        return text.toString();
    }
}
