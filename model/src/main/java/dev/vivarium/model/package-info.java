/// The product's words as records and sealed types: what every module speaks, with nothing but the JDK behind it.
@NullMarked
package dev.vivarium.model;

import org.jspecify.annotations.NullMarked;
