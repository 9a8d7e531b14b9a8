import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { lineEndsOf } from '~/screens/files/line-ends'

describe('line ends', () => {
  it.each(['', 'a', 'a\nb\n', 'a\r\nb\r\n', 'a\r\nb\nc', 'a\rb', 'a\r\n\rb\n', '\r', '\n\r\n'])(
    'of %j are unchanged after an untouched round trip',
    (text) => {
      const state = EditorState.create({ doc: text, extensions: lineEndsOf(text) })
      expect(state.sliceDoc()).toBe(text)
    },
  )

  it('of typed text match those of the file', () => {
    const state = EditorState.create({ doc: 'a\r\nb\r\n', extensions: lineEndsOf('a\r\nb\r\n') })
    const typed = state.update({ changes: { from: 0, insert: state.toText('x\r\n') } }).state
    expect(typed.sliceDoc()).toBe('x\r\na\r\nb\r\n')
    expect(typed.doc.lines).toBe(4)
  })
})
