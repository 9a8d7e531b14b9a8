/// The way out of a sandbox: an HTTP proxy whose front is inside, on the wire, and whose back is here, where names and
/// addresses are checked, credentials added and connections counted.
@NullMarked
package dev.vivarium.core.egress;

import org.jspecify.annotations.NullMarked;
