/// Provider of machines that the launcher starts, or that run as OCI bundles under crun, runc or gVisor: namespaces, an
/// overlay on a bounded disk, cgroups.
@NullMarked
package dev.vivarium.core.provider.oci;

import org.jspecify.annotations.NullMarked;
