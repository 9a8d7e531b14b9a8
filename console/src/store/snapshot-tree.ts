import type { components } from '~/api/schema'

export type Snapshot = components['schemas']['Snapshot']
export type Snapshots = components['schemas']['Snapshots']
export type Fork = Snapshots['forks'][number]

/** A snapshot and its children. */
export interface Branch {
  readonly snapshot: Snapshot
  readonly forks: readonly Fork[]
  readonly children: readonly Branch[]
  /** Whether it is the last saved or restored snapshot of the sandbox. */
  readonly isCurrent: boolean
}

/**
 * The snapshots of a thread as a tree, oldest first. Those with a deleted parent, or a parent of another thread, are
 * roots.
 */
export function treeOf(list: Snapshots): readonly Branch[] {
  const known = new Set(list.snapshots.map((snapshot) => snapshot.snapshot_id))
  const parentOf = ({ parent_id: parent }: Snapshot) => (parent !== undefined && known.has(parent) ? parent : undefined)
  // A thread has at most fifty snapshots, so a linear search is enough.
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

/** Display name. */
export function titleOf(snapshot: Snapshot): string {
  return snapshot.name === '' ? snapshot.snapshot_id : snapshot.name
}

/** Proposed thread name of a fork: the thread with the end of the snapshot's id. */
export function forkName(thread: string, taken: readonly Fork[]): string {
  const stem = thread.replace(/-fork-\d+$/, '')
  const numbers = taken.map((fork) => Number(/-fork-(\d+)$/.exec(fork.thread_id)?.[1] ?? 0))
  return `${stem}-fork-${Math.max(0, ...numbers) + 1}`
}
