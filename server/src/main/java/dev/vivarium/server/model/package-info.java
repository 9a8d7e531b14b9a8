/// The model gateway: agents ask models through it, with the operator's key, at the run's expense.
@NullMarked
package dev.vivarium.server.model;

import org.jspecify.annotations.NullMarked;
