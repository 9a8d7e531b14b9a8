/** State of a live connection. The page keeps its content in every state. */
export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'catching-up'; readonly behind: number }
  | { readonly kind: 'reconnecting'; readonly at: number }
  | { readonly kind: 'offline'; readonly since: number }
  | { readonly kind: 'ended'; readonly why: string }

export const CONNECTING: LiveState = { kind: 'connecting' }
export const LIVE: LiveState = { kind: 'live' }

const GRAVITY: Record<LiveState['kind'], number> = {
  live: 0,
  ended: 1,
  'catching-up': 2,
  connecting: 3,
  reconnecting: 4,
  offline: 5,
}

/** Returns the worst state of several connections. */
export function worst(states: Iterable<LiveState>): LiveState | undefined {
  let found: LiveState | undefined
  for (const state of states) {
    if (found === undefined || GRAVITY[state.kind] > GRAVITY[found.kind]) found = state
  }
  return found
}

/** Whether the server is expected to answer. */
export function isReachable(state: LiveState): boolean {
  return state.kind !== 'reconnecting' && state.kind !== 'offline'
}
