/// Root file systems of machines: the programs of the host, an image built from Debian packages, or an imported image.
@NullMarked
package dev.vivarium.core.image;

import org.jspecify.annotations.NullMarked;
