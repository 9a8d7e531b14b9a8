import { EventStore, type History } from './event-store'

/** So near to what is loaded, the pages between are loaded too; further away, a window of its own is opened. */
const NEAR = 2_000

export type Found =
  | { readonly kind: 'here'; readonly store: EventStore }
  /** The log no longer has it: it begins later. */
  | { readonly kind: 'removed' }
  /** The log has not come so far. */
  | { readonly kind: 'missing' }

/** Finds the event with this number, in what is loaded or by asking for the page that it is on. */
export async function findEvent(live: EventStore, history: History, seq: number): Promise<Found> {
  if (seq > live.headSeq) return { kind: 'missing' }
  if (seq < live.firstSeq - NEAR) {
    const past = new EventStore(history)
    await past.openAt(seq)
    return past.timeline.indexOf(seq) === undefined ? { kind: 'removed' } : { kind: 'here', store: past }
  }
  return (await live.reach(seq)) ? { kind: 'here', store: live } : { kind: 'removed' }
}
