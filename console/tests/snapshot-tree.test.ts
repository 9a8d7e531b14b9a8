import { describe, expect, it } from 'vitest'
import { type Branch, forkName, type Snapshot, treeOf } from '~/store/snapshot-tree'

function snapshot(id: string, parent?: string): Snapshot {
  return {
    snapshot_id: id,
    thread_id: 't',
    user_id: 'u',
    sandbox_id: 's',
    name: id,
    bytes: 1,
    created_at: '2026-01-01T10:00:00Z',
    ...(parent === undefined ? {} : { parent_id: parent }),
  }
}

const shape = (branches: readonly Branch[]): unknown =>
  branches.map((branch) => [branch.snapshot.snapshot_id, shape(branch.children)])

describe('snapshots', () => {
  it('are a tree of parents and children', () => {
    const snapshots = [snapshot('a'), snapshot('b', 'a'), snapshot('c', 'a'), snapshot('d', 'c'), snapshot('e', 'gone')]
    const forks = [{ snapshot_id: 'c', thread_id: 'other', user_id: 'u', sandbox_id: 'o' }]
    const tree = treeOf({ snapshots, forks, total_bytes: 5, limit: 50, current_id: 'd' })
    expect(shape(tree)).toEqual([
      [
        'a',
        [
          ['b', []],
          ['c', [['d', []]]],
        ],
      ],
      ['e', []],
    ])
    expect(tree[0]?.children[1]?.forks).toEqual(forks)
    expect(tree[0]?.children[1]?.children[0]?.isCurrent).toBe(true)
  })

  it('give a fork a name that is probably free', () => {
    expect(forkName('work', [])).toBe('work-fork-1')
    const taken = [{ snapshot_id: 'a', thread_id: 'work-fork-3', user_id: 'u', sandbox_id: 'x' }]
    expect(forkName('work', taken)).toBe('work-fork-4')
    expect(forkName('work-fork-2', [])).toBe('work-fork-1')
  })
})
