import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Entry } from '~/api/files'
import { ancestorsOf, FileTree, nameOf, parentOf } from '~/store/file-tree'
import { event } from './events'

const now = (task: () => void) => task()

/** Workspace in memory. The keys are paths; a directory ends with a slash. */
class Disk {
  readonly asked: string[] = []
  isReachable = true
  /** Called before an answer is returned, to change the workspace in between. */
  meanwhile = () => {}

  constructor(public paths: string[]) {}

  async list(path: string): Promise<readonly Entry[]> {
    this.asked.push(path)
    if (!this.isReachable) throw new Error('out of reach')
    const prefix = path === '' ? '' : `${path}/`
    const entries = new Map<string, Entry>()
    for (const each of this.paths.filter((one) => one.startsWith(prefix) && one !== prefix)) {
      const rest = each.slice(prefix.length)
      const name = rest.split('/')[0] ?? ''
      entries.set(name, { name, path: prefix + name, type: rest.includes('/') ? 'directory' : 'file', size: 1 })
    }
    this.meanwhile()
    return [...entries.values()]
  }
}

const shown = (tree: FileTree, filter = '') =>
  tree.rows(filter).map((row) => `${'  '.repeat(row.level - 1)}${row.entry.name}`)

async function opened(disk: Disk): Promise<FileTree> {
  const tree = new FileTree(disk, 10, now)
  await tree.expand('')
  return tree
}

describe('FileTree', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('reads a directory once, when it is opened', async () => {
    const disk = new Disk(['b.txt', 'a10', 'a9', 'src/main.ts', 'src/deep/x'])
    const tree = await opened(disk)
    expect(shown(tree)).toEqual(['src', 'a9', 'a10', 'b.txt'])
    await tree.expand('src')
    expect(shown(tree)).toEqual(['src', '  deep', '  main.ts', 'a9', 'a10', 'b.txt'])
    tree.collapse('src')
    await tree.expand('src')
    expect(disk.asked).toEqual(['', 'src'])
  })

  it('returns the position of a row among its siblings', async () => {
    const tree = await opened(new Disk(['src/a', 'src/b']))
    await tree.expand('src')
    expect(tree.rows()[2]).toMatchObject({ level: 2, position: 2, siblings: 2, isExpanded: undefined })
    expect(tree.rows()[0]).toMatchObject({ level: 1, position: 1, siblings: 1, isExpanded: true })
  })

  it('adds a file from an event without a request', async () => {
    const disk = new Disk(['a.txt'])
    const tree = await opened(disk)
    tree.follow([event(11, 'file.created', { path: 'new.txt', size: 5, sha256: 'ab' })])
    expect(shown(tree)).toEqual(['a.txt', 'new.txt'])
    expect(tree.mark('new.txt')).toMatchObject({ how: 'created', seq: 11, sha256: 'ab' })
    expect(disk.asked).toEqual([''])
  })

  it('applies each event once, and none that the listing includes', async () => {
    const tree = await opened(new Disk([]))
    const events = [event(9, 'file.created', { path: 'old' }), event(11, 'file.created', { path: 'new' })]
    tree.follow(events)
    tree.follow([...events, event(12, 'file.deleted', { path: 'new' })])
    tree.follow(events)
    expect(shown(tree)).toEqual([])
  })

  it('shows an unread directory without its content', async () => {
    const disk = new Disk([])
    const tree = await opened(disk)
    tree.follow([event(11, 'file.created', { path: 'deep/down/x.txt' })])
    expect(shown(tree)).toEqual(['deep'])
    expect(tree.rows()[0]?.entry.type).toBe('directory')
    expect(disk.asked).toEqual([''])
  })

  it('drops the content of a deleted directory', async () => {
    const disk = new Disk(['src/a'])
    const tree = await opened(disk)
    await tree.expand('src')
    tree.follow([event(11, 'file.deleted', { path: 'src', directory: true, files: 1 })])
    expect(shown(tree)).toEqual([])
    tree.follow([event(12, 'file.created', { path: 'src', directory: true })])
    disk.paths = ['src/b']
    await tree.expand('src')
    expect(shown(tree)).toEqual(['src', '  b'])
  })

  it('reads directories again after folded changes', async () => {
    const disk = new Disk(['a', 'src/b'])
    const tree = await opened(disk)
    disk.paths = ['a', 'c', 'src/b']
    tree.follow([
      event(11, 'file.changes_folded', { created: 900 }),
      event(12, 'file.changes_folded', { created: 900 }),
    ])
    await vi.runAllTimersAsync()
    expect(shown(tree)).toEqual(['src', 'a', 'c'])
    expect(disk.asked).toEqual(['', ''])
  })

  it('reads again after a change during the read', async () => {
    const disk = new Disk(['a'])
    const tree = new FileTree(disk, 10, now)
    disk.meanwhile = () => {
      disk.meanwhile = () => {}
      disk.paths = ['a', 'b']
      tree.follow([event(11, 'file.created', { path: 'b' })])
    }
    await tree.expand('')
    expect(shown(tree)).toEqual(['a', 'b'])
    expect(disk.asked).toEqual(['', ''])
  })

  it('keeps its rows and shows the error when a read fails', async () => {
    const disk = new Disk(['a'])
    const tree = await opened(disk)
    disk.isReachable = false
    await tree.refresh()
    expect(shown(tree)).toEqual(['a'])
    expect(tree.problem).toBeInstanceOf(Error)
    disk.isReachable = true
    await tree.refresh()
    expect(tree.problem).toBeUndefined()
  })

  it('filters loaded rows and keeps their parents', async () => {
    const tree = await opened(new Disk(['readme', 'src/Main.ts', 'src/other.ts']))
    await tree.expand('src')
    tree.collapse('src')
    expect(shown(tree, 'main')).toEqual(['src', '  Main.ts'])
    expect(shown(tree)).toEqual(['src', 'readme'])
  })

  it('expands the parents of a path', async () => {
    const disk = new Disk(['a/b/c.txt'])
    const tree = new FileTree(disk, 0, now)
    await tree.reveal('a/b/c.txt')
    expect(shown(tree)).toEqual(['a', '  b', '    c.txt'])
    expect(tree.find('a/b/c.txt')?.type).toBe('file')
  })

  it('splits paths', () => {
    expect(parentOf('a/b/c')).toBe('a/b')
    expect(parentOf('a')).toBe('')
    expect(nameOf('a/b/c')).toBe('c')
    expect(ancestorsOf('a/b/c')).toEqual(['', 'a', 'a/b'])
  })
})
