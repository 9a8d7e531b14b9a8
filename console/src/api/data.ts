import type { EventData } from './types'

/** Readers of untrusted event data, which agents send in any form. */
export function text(data: EventData, name: string): string | undefined {
  const value = data[name]
  return typeof value === 'string' ? value : undefined
}

/** Reads a number, also from the decimal text that the log stores. */
export function number(data: EventData, name: string): number | undefined {
  const value = data[name]
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

export function flag(data: EventData, name: string): boolean {
  return data[name] === true
}

export function object(data: EventData, name: string): EventData {
  const value = data[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as EventData) : {}
}

/** Reads text of any form: a string, a list of blocks with `text`, or JSON. */
export function prose(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(prose).join('\n')
  if (typeof value === 'object' && 'text' in value && typeof value.text === 'string') return value.text
  return JSON.stringify(value, null, 2)
}
