/// Commands in a sandbox: started, fed, listened to, signalled and ended.
@NullMarked
package dev.vivarium.core.exec;

import org.jspecify.annotations.NullMarked;
