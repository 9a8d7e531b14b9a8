/// Root file systems for machines: the host's own programs, one built from Debian packages, or any that is imported.
@NullMarked
package dev.vivarium.core.image;

import org.jspecify.annotations.NullMarked;
