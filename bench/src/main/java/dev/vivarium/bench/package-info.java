/// Benchmarks of latency, bandwidth, density and load. Each compares Vivarium with bare `fork+exec` and a Docker Engine
/// in the same run.
@NullMarked
package dev.vivarium.bench;

import org.jspecify.annotations.NullMarked;
