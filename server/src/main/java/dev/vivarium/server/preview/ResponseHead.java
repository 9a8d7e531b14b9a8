package dev.vivarium.server.preview;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpStatus;

/// The first lines of what a program answered. Immutable.
record ResponseHead(int status, HttpFields headers) {
    boolean isInterim() {
        return HttpStatus.isInformational(status) && !isUpgrade();
    }

    boolean isUpgrade() {
        return status == HttpStatus.SWITCHING_PROTOCOLS_101;
    }

    /// Reports whether a length may be told: these answers have no body, whatever their headers say.
    boolean mayHaveLength() {
        return status != HttpStatus.NO_CONTENT_204 && status != HttpStatus.NOT_MODIFIED_304;
    }
}
