package dev.vivarium.model;

/// Failures of connections to a port in a sandbox.
public sealed interface PortFailure extends Failure
        permits Failure.ConnectionRefused, Failure.BadAnswer, Failure.AnswerTimedOut {}
