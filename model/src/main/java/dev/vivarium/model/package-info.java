/// Domain model as records and sealed types, shared by every module. Depends on the JDK alone.
@NullMarked
package dev.vivarium.model;

import org.jspecify.annotations.NullMarked;
