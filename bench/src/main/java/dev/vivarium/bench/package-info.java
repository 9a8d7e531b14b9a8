/// Where our numbers come from: latency, bandwidth, density and load, each beside bare `fork+exec` and a Docker Engine
/// in the same run.
@NullMarked
package dev.vivarium.bench;

import org.jspecify.annotations.NullMarked;
