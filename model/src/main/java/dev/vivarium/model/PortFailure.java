package dev.vivarium.model;

/// Failures of connections to a port in a sandbox. Immutable.
public sealed interface PortFailure extends Failure
        permits Failure.ConnectionRefused, Failure.BadAnswer, Failure.AnswerTimedOut {}
