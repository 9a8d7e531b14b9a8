/// The log: what happened to each sandbox, numbered without gaps, durable before it is acknowledged, and followed live.
@NullMarked
package dev.vivarium.core.log;

import org.jspecify.annotations.NullMarked;
