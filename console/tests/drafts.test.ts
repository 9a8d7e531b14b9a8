import { beforeEach, describe, expect, it } from 'vitest'
import { Drafts } from '~/store/drafts'

const DRAFT = { text: 'x', tag: '1' }

describe('edits that are not saved', () => {
  let drafts: Drafts

  beforeEach(() => {
    drafts = new Drafts((run) => run())
    for (const path of ['src/a.ts', 'src/deep/b.ts', 'srcs.ts']) drafts.put('sbx1', path, DRAFT)
  })

  it('go with a directory that gets another name', () => {
    drafts.move('sbx1', 'src', 'lib')
    expect(drafts.get('sbx1', 'lib/a.ts')).toEqual(DRAFT)
    expect(drafts.get('sbx1', 'lib/deep/b.ts')).toEqual(DRAFT)
    expect(drafts.get('sbx1', 'src/a.ts')).toBeUndefined()
    expect(drafts.get('sbx1', 'srcs.ts')).toEqual(DRAFT)
  })

  it('go when their directory is removed', () => {
    drafts.remove('sbx1', 'src')
    expect(drafts.get('sbx1', 'src/deep/b.ts')).toBeUndefined()
    expect(drafts.get('sbx1', 'srcs.ts')).toEqual(DRAFT)
  })

  it('are gone after whoever typed them signed out, and nobody is asked about them', () => {
    drafts.clear()
    expect(drafts.get('sbx1', 'srcs.ts')).toBeUndefined()
    const leaving = new Event('beforeunload', { cancelable: true })
    window.dispatchEvent(leaving)
    expect(leaving.defaultPrevented).toBe(false)
  })
})
