import { describe, expect, it } from 'vitest'
import { MessageReader } from '~/live/sse'

describe('MessageReader', () => {
  it('parses a message in any split', () => {
    const whole = 'id: 7\nevent: event\ndata: {"a":1}\n\n'
    for (let cut = 0; cut <= whole.length; cut++) {
      const reader = new MessageReader()
      const messages = [...reader.read(whole.slice(0, cut)), ...reader.read(whole.slice(cut))]
      expect(messages).toEqual([{ event: 'event', data: '{"a":1}', id: '7' }])
    }
  })

  it('drops comments', () => {
    expect(new MessageReader().read(': keep-alive\n\nevent: missed\ndata: {}\n\n')).toEqual([
      { event: 'missed', data: '{}', id: undefined },
    ])
  })

  it('accepts all line ends, also across pieces', () => {
    const reader = new MessageReader()
    expect(reader.read('data: one\r')).toEqual([])
    expect(reader.read('\n\r\n').map((message) => message.data)).toEqual(['one'])
  })

  it('joins several data lines', () => {
    expect(new MessageReader().read('data: one\ndata:two\n\n')[0]?.data).toBe('one\ntwo')
  })
})
