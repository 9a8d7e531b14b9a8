import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Content } from '~/api/files'
import { ApiError } from '~/api/problem'
import { Drafts } from '~/store/drafts'
import { OpenFile } from '~/store/open-file'

const now = (task: () => void) => task()

const refused = (status: number) => new ApiError({ type: 'x', title: 'x', detail: `status ${status}`, status })

/** One file that several write to. A tag is the text in quotes. */
class Shelf {
  readonly sandboxId = 'sbx1'
  text: string | undefined = 'one'
  isFull = false
  /** Called while a write is on its way. */
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

  it('saves what was typed', async () => {
    file.edit('two')
    expect(file.draft).toBe('two')
    await file.save()
    expect(shelf.text).toBe('two')
    expect(file.draft).toBeUndefined()
    expect(file.newer).toBeUndefined()
  })

  it('is not edited when the text is what it was', () => {
    file.edit('two')
    file.edit('one')
    expect(file.draft).toBeUndefined()
  })

  it('keeps both when somebody else was faster', async () => {
    file.edit('mine')
    shelf.text = 'theirs'
    await file.save()
    expect(shelf.text).toBe('theirs')
    expect(file.text).toBe('mine')
    expect(file.newerText).toBe('theirs')
    expect(file.saveProblem).toBeUndefined()
  })

  it('writes over the version that was shown, and over no later one', async () => {
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

  it('takes theirs when that is wanted', async () => {
    file.edit('mine')
    shelf.text = 'theirs'
    await file.save()
    await file.reload()
    expect(file.text).toBe('theirs')
    expect(file.draft).toBeUndefined()
    expect(file.newer).toBeUndefined()
  })

  it('tells of another version and shows the one that was read', async () => {
    shelf.text = 'theirs'
    await file.told(told(5, 'theirs'))
    expect(file.text).toBe('one')
    expect(file.newerText).toBe('theirs')
  })

  it('says nothing of its own save', async () => {
    file.edit('two')
    shelf.meanwhile = () => void file.told(told(5, 'two'))
    await file.save()
    expect(file.newer).toBeUndefined()
    await file.told(told(6, 'two'))
    expect(file.newer).toBeUndefined()
  })

  it('hears of what came right after its save', async () => {
    file.edit('two')
    shelf.meanwhile = () => {
      shelf.text = 'theirs'
      void file.told(told(6, 'theirs'))
    }
    await file.save()
    expect(file.text).toBe('two')
    expect(file.newerText).toBe('theirs')
  })

  it('says that the file is gone, and can put it back', async () => {
    file.edit('mine')
    shelf.text = undefined
    await file.told({ how: 'deleted', at: 0, seq: 5, sha256: undefined })
    expect(file.isGone).toBe(true)
    await file.overwrite()
    expect(shelf.text).toBe('mine')
    expect(file.isGone).toBe(false)
  })

  it('keeps what was typed when a save is refused', async () => {
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

  it('finds an edit again that was left, also if the file is another one by now', async () => {
    file.edit('mine')
    shelf.text = 'theirs'
    const again = new OpenFile('a.txt', shelf, drafts, now)
    await again.load()
    expect(again.text).toBe('mine')
    expect(again.newerText).toBe('theirs')
    await again.save()
    expect(shelf.text).toBe('theirs')
  })

  it('asks before the page goes while something is not saved', () => {
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
