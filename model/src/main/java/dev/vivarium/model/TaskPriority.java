package dev.vivarium.model;

/// Priority of a task in the queue, lowest first.
public enum TaskPriority implements TextEnum {
    LOW,
    MEDIUM,
    HIGH,
    CRITICAL
}
