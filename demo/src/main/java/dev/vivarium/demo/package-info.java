/// `viv demo`: a server, a model that plays a script, and a run that is watched and steered, in one program.
@NullMarked
package dev.vivarium.demo;

import org.jspecify.annotations.NullMarked;
