/// Model gateway: relays model calls of agents with the operator's key and charges them to the run.
@NullMarked
package dev.vivarium.server.model;

import org.jspecify.annotations.NullMarked;
