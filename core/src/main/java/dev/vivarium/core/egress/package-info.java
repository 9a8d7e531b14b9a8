/// Egress of sandboxes: an HTTP proxy whose listener is inside the guest. The server checks names and addresses, adds
/// credentials and limits connections.
@NullMarked
package dev.vivarium.core.egress;

import org.jspecify.annotations.NullMarked;
