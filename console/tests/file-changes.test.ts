import { describe, expect, it } from 'vitest'
import type { LogEvent } from '~/api/types'
import { FileChanges } from '~/store/file-changes'
import { event } from './events'

const now = (task: () => void) => task()
const PAGE = 3

const told = (seq: number, how: string, path: string, sha256?: string) => event(seq, `file.${how}`, { path, sha256 })

async function of(events: LogEvent[]): Promise<FileChanges> {
  const changes = new FileChanges(
    {
      page: async (before) => {
        const page = events.filter((one) => before === undefined || one.seq < before).slice(-PAGE)
        return { events: page, firstSeq: 1, headSeq: events.at(-1)?.seq ?? 0 }
      },
    },
    now,
  )
  await changes.load()
  return changes
}

const between = (changes: FileChanges, from: number, to: number) =>
  changes.between(from, to).map((change) => `${change.how} ${change.path}`)

describe('FileChanges', () => {
  const story = [
    told(1, 'created', 'b.txt', 'b1'),
    told(2, 'created', 'a.txt', 'a1'),
    told(5, 'modified', 'a.txt', 'a2'),
    told(6, 'created', 'c.txt', 'c1'),
    told(7, 'deleted', 'b.txt'),
    told(9, 'modified', 'a.txt', 'a1'),
    told(10, 'deleted', 'c.txt'),
  ]

  it('returns the changes of each file between two moments', async () => {
    const changes = await of(story)
    expect(between(changes, 0, 10)).toEqual(['added a.txt'])
    expect(between(changes, 2, 6)).toEqual(['modified a.txt', 'added c.txt'])
    expect(between(changes, 6, 10)).toEqual(['modified a.txt', 'deleted b.txt', 'deleted c.txt'])
    expect(between(changes, 10, 10)).toEqual([])
  })

  it('omits files that are unchanged', async () => {
    expect(between(await of(story), 2, 9)).toEqual(['deleted b.txt', 'added c.txt'])
  })

  it('applies each new event once', async () => {
    const changes = await of(story)
    const more = [told(10, 'deleted', 'c.txt'), told(11, 'created', 'd.txt', 'd1')]
    changes.follow(more)
    changes.follow(more)
    expect(between(changes, 10, 11)).toEqual(['added d.txt'])
    expect(changes.isOutdated('a.txt', 9)).toBe(false)
    expect(changes.isOutdated('a.txt', 5)).toBe(true)
  })

  it('includes counts of folded changes', async () => {
    const changes = await of([
      event(3, 'file.changes_folded', { created: 800, deleted: 2, directories: ['node_modules'] }),
    ])
    expect(changes.floods(0, 9)).toEqual([{ seq: 3, count: 802, directories: ['node_modules'] }])
    expect(changes.floods(3, 9)).toEqual([])
  })

  it('deletes the files of a deleted directory', async () => {
    const changes = await of([
      event(1, 'file.created', { path: 'src', directory: true }),
      told(2, 'created', 'src/a', 'a'),
      event(3, 'file.deleted', { path: 'src', directory: true, files: 1 }),
    ])
    expect(between(changes, 2, 3)).toEqual(['deleted src/a'])
    expect(await changes.list('')).toEqual([])
  })

  it('lists the files at the end', async () => {
    const changes = await of([
      event(1, 'file.created', { path: 'empty', directory: true }),
      told(2, 'created', 'src/deep/x', 'x'),
      told(3, 'created', 'gone'),
      told(4, 'deleted', 'gone'),
    ])
    expect((await changes.list('')).map((entry) => `${entry.type} ${entry.path}`)).toEqual([
      'directory empty',
      'directory src',
    ])
    expect((await changes.list('src/deep')).map((entry) => entry.path)).toEqual(['src/deep/x'])
  })
})
