/// Event logs: the events of each sandbox, and of the tasks of each user. They are numbered without gaps, durable
/// before they are acknowledged, and followed live.
@NullMarked
package dev.vivarium.core.log;

import org.jspecify.annotations.NullMarked;
