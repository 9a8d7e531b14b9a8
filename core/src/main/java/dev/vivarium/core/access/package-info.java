/// Who may do what: API keys, capability tokens with scopes, invitations, and the record of their use.
@NullMarked
package dev.vivarium.core.access;

import org.jspecify.annotations.NullMarked;
