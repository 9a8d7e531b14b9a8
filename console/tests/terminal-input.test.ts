import { describe, expect, it } from 'vitest'
import { inspectPaste, isMouse, isReply, pieces } from '~/store/terminal-input'

describe('inspectPaste', () => {
  it('accepts a plain line', () => {
    expect(inspectPaste('git status')).toEqual({ text: 'git status', lines: 1, removed: 0, needsLook: false })
    expect(inspectPaste('a\tb').needsLook).toBe(false)
  })

  it('asks for several lines and for a line that would run immediately', () => {
    expect(inspectPaste('one\r\ntwo')).toEqual({ text: 'one\ntwo', lines: 2, removed: 0, needsLook: true })
    expect(inspectPaste('reboot\n')).toMatchObject({ lines: 1, needsLook: true })
  })

  it('removes control sequences such as the end of a paste', () => {
    const { text, removed, needsLook } = inspectPaste('a\u001b[201~; rm -rf ~\u0003')
    expect(text).toBe('a[201~; rm -rf ~')
    expect(removed).toBe(2)
    expect(needsLook).toBe(true)
  })
})

describe('isReply', () => {
  it('detects answers of terminals', () => {
    for (const reply of [
      '\u001b[?1;2c',
      '\u001b[0n',
      '\u001b[24;80R',
      '\u001b]11;rgb:00/00/00\u001b\\',
      '\u001b[>0;276;0c',
    ]) {
      expect(isReply(reply), JSON.stringify(reply)).toBe(true)
    }
  })

  it('ignores typed keys', () => {
    for (const key of [
      'a',
      '\r',
      '\u001b',
      '\u001b[A',
      '\u001bOP',
      '\u001b[200~x\u001b[201~',
      '\u001b[1;5C',
      '\u001b[15~',
    ]) {
      expect(isReply(key), JSON.stringify(key)).toBe(false)
    }
  })
})

describe('isMouse', () => {
  it('distinguishes mouse reports from keys', () => {
    expect(isMouse('\u001b[<0;10;5M')).toBe(true)
    expect(isMouse('\u001b[A')).toBe(false)
  })
})

describe('pieces', () => {
  it('splits long text between characters', () => {
    expect(pieces('abcde', 2)).toEqual(['ab', 'cd', 'e'])
    expect(pieces('a😀b', 2)).toEqual(['a', '😀', 'b'])
    expect(pieces('', 2)).toEqual([])
  })
})
