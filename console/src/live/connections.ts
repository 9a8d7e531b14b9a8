import { useSyncExternalStore } from 'react'
import { CONNECTING, type LiveState, worst } from './state'

interface Connection {
  readonly state: LiveState
  readonly retryNow: () => void
}

/** All live connections of this tab. The frame shows the one in the worst state. */
class Connections {
  readonly #all = new Map<object, Connection>()
  readonly #listeners = new Set<() => void>()
  #worst: LiveState = CONNECTING

  put(owner: object, connection: Connection): void {
    this.#all.set(owner, connection)
    this.#changed()
  }

  remove(owner: object): void {
    this.#all.delete(owner)
    this.#changed()
  }

  readonly retryNow = (): void => {
    for (const connection of this.#all.values()) connection.retryNow()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly current = (): LiveState => this.#worst

  #changed(): void {
    this.#worst = worst([...this.#all.values()].map((connection) => connection.state)) ?? CONNECTING
    for (const listener of this.#listeners) listener()
  }
}

export const connections = new Connections()

export function useConnection(): LiveState {
  return useSyncExternalStore(connections.subscribe, connections.current)
}
