package dev.vivarium.scripted;

import java.util.List;

/// Wire format of requests, answers and errors. Implementations are stateless.
interface Dialect {
    Question read(Node request);

    /// Returns the answer without streaming.
    String answer(Reply reply);

    /// Returns the answer in pieces. Each piece is one complete event of the stream.
    List<String> pieces(Reply reply);

    String error(int status, String message);
}
