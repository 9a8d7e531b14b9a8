import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Content } from '~/api/files'
import { ApiError } from '~/api/problem'
import { Drafts } from '~/store/drafts'
import { OpenFile } from '~/store/open-file'

const now = (task: () => void) => task()

const refused = (status: number) => new ApiError({ type: 'x', title: 'x', detail: `status ${status}`, status })

/** A file that several clients write. Its tag is the text in quotes. */
class Shelf {
  readonly sandboxId = 'sbx1'
  text: string | undefined = 'one'
  isFull = false
  /** Called during a write. */
  meanwhile = () => {}

  async read(): Promise<Content> {
    if (this.text === undefined) throw refused(404)
    const bytes = new TextEncoder().encode(this.text)
    return { bytes, size: bytes.length, tag: `"${this.text}"`, modifiedAt: undefined }
  }

  async write(_path: string, content: BodyInit, tag?: string): Promise<string> {
    await Promise.resolve()
    if (this.isFull) throw refused(507)
    if (tag !== (this.text === undefined ? undefined : `"${this.text}"`)) throw refused(412)
    this.text = new TextDecoder().decode(content as Uint8Array)
    const saved = `"${this.text}"`
    this.meanwhile()
    return saved
  }
}

const told = (seq: number, sha256: string) => ({ how: 'modified' as const, at: 0, seq, sha256 })

describe('OpenFile', () => {
  let shelf: Shelf
  let drafts: Drafts
  let file: OpenFile

  beforeEach(async () => {
    shelf = new Shelf()
    drafts = new Drafts(now)
    file = new OpenFile('a.txt', shelf, drafts, now)
    await file.load()
  })

  afterEach(() => file.discard())

  it('saves the edited text', async () => {
    file.edit('two')
    expect(file.draft).toBe('two')
    await file.save()
    expect(shelf.text).toBe('two')
    expect(file.draft).toBeUndefined()
    expect(file.newer).toBeUndefined()
  })

  it('is unedited when the text equals the original', () => {
    file.edit('two')
    file.edit('one')
    expect(file.draft).toBeUndefined()
  })

  it('keeps both versions after a concurrent change', async () => {
    file.edit('mine')
    shelf.text = 'theirs'
    await file.save()
    expect(shelf.text).toBe('theirs')
    expect(file.text).toBe('mine')
    expect(file.newerText).toBe('theirs')
    expect(file.saveProblem).toBeUndefined()
  })

  it('overwrites only the version that was shown', async () => {
    file.edit('mine')
    shelf.text = 'theirs'
    await file.save()
    shelf.text = 'theirs again'
    await file.overwrite()
    expect(shelf.text).toBe('theirs again')
    expect(file.newerText).toBe('theirs again')
    await file.overwrite()
    expect(shelf.text).toBe('mine')
    expect(file.newer).toBeUndefined()
    expect(file.draft).toBeUndefined()
  })

  it('takes the other version on request', async () => {
    file.edit('mine')
    shelf.text = 'theirs'
    await file.save()
    await file.reload()
    expect(file.text).toBe('theirs')
    expect(file.draft).toBeUndefined()
    expect(file.newer).toBeUndefined()
  })

  it('reports another version and keeps the shown one', async () => {
    shelf.text = 'theirs'
    await file.fileChanged(told(5, 'theirs'))
    expect(file.text).toBe('one')
    expect(file.newerText).toBe('theirs')
  })

  it('does not report its own save', async () => {
    file.edit('two')
    shelf.meanwhile = () => void file.fileChanged(told(5, 'two'))
    await file.save()
    expect(file.newer).toBeUndefined()
    await file.fileChanged(told(6, 'two'))
    expect(file.newer).toBeUndefined()
  })

  it('reports a change right after its save', async () => {
    file.edit('two')
    shelf.meanwhile = () => {
      shelf.text = 'theirs'
      void file.fileChanged(told(6, 'theirs'))
    }
    await file.save()
    expect(file.text).toBe('two')
    expect(file.newerText).toBe('theirs')
  })

  it('reports a deleted file and can restore it', async () => {
    file.edit('mine')
    shelf.text = undefined
    await file.fileChanged({ how: 'deleted', at: 0, seq: 5, sha256: undefined })
    expect(file.isGone).toBe(true)
    await file.overwrite()
    expect(shelf.text).toBe('mine')
    expect(file.isGone).toBe(false)
  })

  it('keeps the edit when a save is rejected', async () => {
    shelf.isFull = true
    file.edit('mine')
    await file.save()
    expect(file.draft).toBe('mine')
    expect(file.saveProblem).toBeInstanceOf(ApiError)
    shelf.isFull = false
    await file.save()
    expect(shelf.text).toBe('mine')
    expect(file.saveProblem).toBeUndefined()
  })

  it('restores a stored edit even if the file has changed', async () => {
    file.edit('mine')
    shelf.text = 'theirs'
    const again = new OpenFile('a.txt', shelf, drafts, now)
    await again.load()
    expect(again.text).toBe('mine')
    expect(again.newerText).toBe('theirs')
    await again.save()
    expect(shelf.text).toBe('theirs')
  })

  it('warns before the page closes with unsaved edits', () => {
    const leave = () => {
      const event = new Event('beforeunload', { cancelable: true })
      window.dispatchEvent(event)
      return event.defaultPrevented
    }
    expect(leave()).toBe(false)
    file.edit('mine')
    expect(leave()).toBe(true)
    file.discard()
    expect(leave()).toBe(false)
  })
})
