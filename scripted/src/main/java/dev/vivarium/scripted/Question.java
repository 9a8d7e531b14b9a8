package dev.vivarium.scripted;

import java.util.Set;

/// Request of an agent, independent of the dialect. Immutable.
///
/// @param news input since the model's last answer: messages of users and results of tools
/// @param length characters of the whole request
record Question(String model, boolean streamed, Set<String> tools, String news, int messages, int length) {}
