/// Command line `viv`: one file per command, on the SDK only.
@NullMarked
package dev.vivarium.cli;

import org.jspecify.annotations.NullMarked;
