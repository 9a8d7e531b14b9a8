import type { components } from '~/api/schema'

export type Snapshot = components['schemas']['Snapshot']
export type Snapshots = components['schemas']['Snapshots']
export type Fork = Snapshots['forks'][number]

/** A snapshot and what came of it. */
export interface Branch {
  readonly snapshot: Snapshot
  readonly forks: readonly Fork[]
  readonly children: readonly Branch[]
  /** Whether the sandbox's files were last saved as this, or came from it. */
  readonly isCurrent: boolean
}

/** The snapshots of a thread as a tree, oldest first. Those whose parent was deleted, or is another thread's, are at its root. */
export function treeOf(list: Snapshots): readonly Branch[] {
  const known = new Set(list.snapshots.map((snapshot) => snapshot.snapshot_id))
  const parentOf = ({ parent_id: parent }: Snapshot) => (parent !== undefined && known.has(parent) ? parent : undefined)
  // A thread has fifty at most: looking through all for each is nothing.
  const below = (parent: string | undefined): readonly Branch[] =>
    list.snapshots
      .filter((snapshot) => parentOf(snapshot) === parent)
      .map((snapshot) => ({
        snapshot,
        forks: list.forks.filter((fork) => fork.snapshot_id === snapshot.snapshot_id),
        children: below(snapshot.snapshot_id),
        isCurrent: snapshot.snapshot_id === list.current_id,
      }))
  return below(undefined)
}

/** What a person calls it. */
export function titleOf(snapshot: Snapshot): string {
  return snapshot.name === '' ? snapshot.snapshot_id : snapshot.name
}

/** A name for a fork that is most likely free: the thread's, with the snapshot's end. */
export function forkName(thread: string, taken: readonly Fork[]): string {
  const stem = thread.replace(/-fork-\d+$/, '')
  const numbers = taken.map((fork) => Number(/-fork-(\d+)$/.exec(fork.thread_id)?.[1] ?? 0))
  return `${stem}-fork-${Math.max(0, ...numbers) + 1}`
}
