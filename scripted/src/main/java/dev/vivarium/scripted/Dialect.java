package dev.vivarium.scripted;

import java.util.List;

/// How questions, answers and errors are written. Implementations are stateless.
interface Dialect {
    Question read(Node request);

    /// The whole answer at once.
    String answer(Reply reply);

    /// The answer in pieces, each a whole event of the stream.
    List<String> pieces(Reply reply);

    String error(int status, String message);
}
