/// `viv demo`: a server, a scripted model, and a run with a message from the user, in one program.
@NullMarked
package dev.vivarium.demo;

import org.jspecify.annotations.NullMarked;
