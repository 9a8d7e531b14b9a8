import { describe, expect, it } from 'vitest'
import { countLines, pairs, parseDiff } from '~/store/diff'

const DIFF = `--- a/app.py
+++ b/app.py
@@ -1,4 +1,5 @@
 import os
-name = "old"
+name = "new"
+more = 1
 
-last
\\ No newline at end of file
+last
@@ -10,1 +12,1 @@
-return 1
+return 2
`

describe('parseDiff', () => {
  const hunks = parseDiff(DIFF)

  it('numbers the lines of both sides', () => {
    expect(hunks.map((hunk) => hunk.header)).toEqual(['@@ -1,4 +1,5 @@', '@@ -10,1 +12,1 @@'])
    expect(hunks[0]?.lines.map((line) => [line.before, line.after])).toEqual([
      [1, 1],
      [2, undefined],
      [undefined, 2],
      [undefined, 3],
      [3, 4],
      [4, undefined],
      [undefined, 5],
    ])
    expect(hunks[1]?.lines[0]).toMatchObject({ kind: 'minus', before: 10, text: 'return 1' })
  })

  it('counts added and removed lines', () => {
    expect(countLines(hunks)).toEqual({ plus: 4, minus: 3 })
  })

  it('marks the changed part of a line', () => {
    expect(hunks[1]?.lines.map((line) => line.differs)).toEqual([
      [7, 8],
      [7, 8],
    ])
  })

  it('pairs removed and added lines', () => {
    const sides = pairs(hunks[0]?.lines ?? []).map(({ left, right }) => [left?.text, right?.text])
    expect(sides).toEqual([
      ['import os', 'import os'],
      ['name = "old"', 'name = "new"'],
      [undefined, 'more = 1'],
      ['', ''],
      ['last', 'last'],
    ])
  })

  it('does not mistake a line for a header', () => {
    const lines = parseDiff('@@ -1 +1 @@\n--- a\n+++ b\n')[0]?.lines
    expect(lines?.map((line) => line.text)).toEqual(['-- a', '++ b'])
  })
})
