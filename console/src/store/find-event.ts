import { EventStore, type History } from './event-store'

/** Distance from the loaded events up to which the pages between are loaded. Beyond it, a separate page is opened. */
const NEAR = 2_000

export type Found =
  | { readonly kind: 'here'; readonly store: EventStore }
  /** Retention has removed the event. */
  | { readonly kind: 'removed' }
  /** The log does not have the event yet. */
  | { readonly kind: 'missing' }

/** Finds the event with this number in the loaded events, or loads its page. */
export async function findEvent(live: EventStore, history: History, seq: number): Promise<Found> {
  if (seq > live.headSeq) return { kind: 'missing' }
  if (seq < live.firstSeq - NEAR) {
    const past = new EventStore(history)
    await past.openAt(seq)
    return past.timeline.indexOf(seq) === undefined ? { kind: 'removed' } : { kind: 'here', store: past }
  }
  return (await live.reach(seq)) ? { kind: 'here', store: live } : { kind: 'removed' }
}
