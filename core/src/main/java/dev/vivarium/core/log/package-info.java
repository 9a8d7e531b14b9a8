/// Event log: the events of each sandbox, numbered without gaps, durable before they are acknowledged, and followed
/// live.
@NullMarked
package dev.vivarium.core.log;

import org.jspecify.annotations.NullMarked;
