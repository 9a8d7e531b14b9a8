/** How a live connection stands. What is on the screen stays there in all of them. */
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

/** Of several connections, the one that a person must know of. */
export function worst(states: Iterable<LiveState>): LiveState | undefined {
  let found: LiveState | undefined
  for (const state of states) {
    if (found === undefined || GRAVITY[state.kind] > GRAVITY[found.kind]) found = state
  }
  return found
}

/** Whether the server can be expected to answer. */
export function isReachable(state: LiveState): boolean {
  return state.kind !== 'reconnecting' && state.kind !== 'offline'
}
