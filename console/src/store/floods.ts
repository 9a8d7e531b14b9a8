import { number } from '~/api/data'
import type { LogEvent } from '~/api/types'

/** Changes of files that the log only counted. */
export interface Flood {
  readonly seq: number
  readonly count: number
  /** Directories of the workspace with most of the changes; `.` is the workspace itself. */
  readonly directories: readonly string[]
}

/** The server names no more directories: a list of this length may be incomplete. */
const MOST_DIRECTORIES = 10

export function floodOf({ seq, event_data: data }: LogEvent): Flood {
  const sum = (number(data, 'created') ?? 0) + (number(data, 'modified') ?? 0) + (number(data, 'deleted') ?? 0)
  const directories = Array.isArray(data.directories) ? data.directories : []
  return { seq, count: sum, directories: directories.filter((name) => typeof name === 'string') }
}

/** Whether all changes of a flood are of hidden files. */
export function isFloodHidden({ directories }: Flood, hides: (path: string) => boolean): boolean {
  const areAllNamed = directories.length > 0 && directories.length < MOST_DIRECTORIES
  return areAllNamed && directories.every((name) => name !== '.' && hides(`${name}/`))
}
