import type { components } from './schema'

type Schemas = components['schemas']

export type LogEvent = Omit<Schemas['Event'], 'event_data'> & { event_data: EventData }
export type EventData = Readonly<Record<string, unknown>>
export type Sandbox = Schemas['RunSandbox']
export type Run = Schemas['Run']
export type Review = Schemas['Review']
export type Health = Schemas['Health']
export type Status = Sandbox['status']
/** A task of the queue. */
export type Task = Schemas['QueuedTask']
export type TaskStatus = Task['status']
export type TaskAttempt = Schemas['TaskAttempt']
