/// Access control: API keys, capability tokens with scopes, invitations, and the audit log.
@NullMarked
package dev.vivarium.core.access;

import org.jspecify.annotations.NullMarked;
