package dev.vivarium.scripted;

import java.util.Set;

/// What an agent asked, whatever the dialect. Immutable.
///
/// @param news what the model has been told since it last spoke: words of people and results of tools
/// @param length characters of the whole question
record Question(String model, boolean streamed, Set<String> tools, String news, int messages, int length) {}
