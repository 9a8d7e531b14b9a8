import { beforeEach, describe, expect, it } from 'vitest'
import { Drafts } from '~/store/drafts'

const DRAFT = { text: 'x', tag: '1' }

describe('unsaved edits', () => {
  let drafts: Drafts

  beforeEach(() => {
    drafts = new Drafts((run) => run())
    for (const path of ['src/a.ts', 'src/deep/b.ts', 'srcs.ts']) drafts.put('sbx1', path, DRAFT)
  })

  it('follow a renamed directory', () => {
    drafts.move('sbx1', 'src', 'lib')
    expect(drafts.get('sbx1', 'lib/a.ts')).toEqual(DRAFT)
    expect(drafts.get('sbx1', 'lib/deep/b.ts')).toEqual(DRAFT)
    expect(drafts.get('sbx1', 'src/a.ts')).toBeUndefined()
    expect(drafts.get('sbx1', 'srcs.ts')).toEqual(DRAFT)
  })

  it('are dropped with their directory', () => {
    drafts.remove('sbx1', 'src')
    expect(drafts.get('sbx1', 'src/deep/b.ts')).toBeUndefined()
    expect(drafts.get('sbx1', 'srcs.ts')).toEqual(DRAFT)
  })

  it('are dropped at sign-out without a warning', () => {
    drafts.clear()
    expect(drafts.get('sbx1', 'srcs.ts')).toBeUndefined()
    const leaving = new Event('beforeunload', { cancelable: true })
    window.dispatchEvent(leaving)
    expect(leaving.defaultPrevented).toBe(false)
  })
})
