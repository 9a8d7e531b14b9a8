/// What an operator can choose: read once at the start from arguments, environment and file, checked, and handed on as
/// one record per concern.
@NullMarked
package dev.vivarium.server.settings;

import org.jspecify.annotations.NullMarked;
