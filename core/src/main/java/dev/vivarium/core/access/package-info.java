/// Who may do what: API keys and the principals behind them.
@NullMarked
package dev.vivarium.core.access;

import org.jspecify.annotations.NullMarked;
