import { describe, expect, it } from 'vitest'
import { hex, show } from '~/store/file-kind'
import { spokenPorts } from '~/store/ports'
import { event } from './events'

const content = (bytes: Uint8Array<ArrayBuffer>, size = bytes.length) => ({
  bytes,
  size,
  tag: '"t"',
  modifiedAt: undefined,
})
const encode = (text: string) => new TextEncoder().encode(text)

describe('show', () => {
  it('shows text as text, whatever its name', () => {
    expect(show('strange.bin', content(encode('grüße')))).toEqual({ kind: 'text', text: 'grüße', isWhole: true })
  })

  it('shows NUL bytes and invalid UTF-8 as bytes', () => {
    expect(show('a.txt', content(new Uint8Array([65, 0, 66]))).kind).toBe('binary')
    expect(show('a.txt', content(new Uint8Array([0xff, 0xfe]))).kind).toBe('binary')
  })

  it('detects images by name only', () => {
    expect(show('a/Logo.SVG', content(encode('<svg/>')))).toMatchObject({ kind: 'image', mediaType: 'image/svg+xml' })
    expect(show('png', content(encode('x'))).kind).toBe('text')
    expect(show('a.pngx', content(encode('x'))).kind).toBe('text')
  })

  it('shows whole lines of the head of a large file', () => {
    const bytes = encode('zeile ü\n'.repeat(40_000)).slice(0, 2 * 1024 * 1024)
    const shown = show('log', content(bytes.slice(0, 300_007), 50_000_000))
    expect(shown).toMatchObject({ kind: 'text', isWhole: false })
    expect(shown.kind === 'text' && shown.text.endsWith('ü\n')).toBe(true)
  })
})

describe('hex', () => {
  it('shows offsets, bytes and characters', () => {
    expect(hex(encode('ABCDEFGHIJKLMNOP\n'))).toEqual([
      '00000000  41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 50  ABCDEFGHIJKLMNOP',
      `00000010  ${'0a'.padEnd(47)}  .`,
    ])
  })
})

describe('ports', () => {
  it('are found in program output, the newest first', () => {
    const said = (seq: number, stdout: string) => event(seq, 'command.output', { stdout })
    const events = [
      said(1, 'Local: http://localhost:5173/'),
      said(2, 'Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/)'),
      said(3, 'port 99999999 at 12:30:00'),
      event(4, 'command.started', { command: 'python3 -m http.server 9000 --bind 127.0.0.1' }),
    ]
    expect(spokenPorts(events)).toEqual([9000, 8000, 5173])
  })
})
