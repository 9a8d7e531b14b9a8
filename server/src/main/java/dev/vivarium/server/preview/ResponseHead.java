package dev.vivarium.server.preview;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpStatus;

/// Status and headers of a program's response. Immutable.
record ResponseHead(int status, HttpFields headers) {
    boolean isInterim() {
        return HttpStatus.isInformational(status) && !isUpgrade();
    }

    boolean isUpgrade() {
        return status == HttpStatus.SWITCHING_PROTOCOLS_101;
    }

    /// Reports whether the response may have a length. A 204 or 304 has no body, even if its headers announce one.
    boolean mayHaveLength() {
        return status != HttpStatus.NO_CONTENT_204 && status != HttpStatus.NOT_MODIFIED_304;
    }
}
