import { describe, expect, it } from 'vitest'
import { csv, deedOf, type Entry, fold, liveTokens, ndjson, withoutOwnLooks } from '~/store/audit'

const AT = '2026-01-01T10:00:00Z'
const NOW = Date.parse('2026-01-01T10:05:00Z')

function entry(seq: number, more: Partial<Entry> = {}): Entry {
  return { seq, at: AT, kind: 'used', outcome: 200, route: 'GET /x', sub: 'ann', count: 1, ...more }
}

describe('the audit log', () => {
  it('lists the newest first and repeated entries once', () => {
    const folded = fold([entry(1), entry(2), entry(3, { sub: 'ben' }), entry(4)])
    expect(folded.map((line) => [line.entry.seq, line.first.seq, line.times])).toEqual([
      [4, 4, 1],
      [3, 3, 1],
      [2, 1, 2],
    ])
  })

  it('is in the order of time, also if entries were written later', () => {
    const at = (seconds: number) => ({ at: `2026-01-01T10:00:0${seconds}Z` })
    const folded = fold([
      entry(1, { ...at(1), sub: 'a' }),
      entry(2, { ...at(5), sub: 'b' }),
      entry(3, { ...at(3), sub: 'c' }),
    ])
    expect(folded.map((line) => line.entry.seq)).toEqual([2, 3, 1])
  })

  it('omits reads of the current user', () => {
    const entries = [
      entry(1),
      entry(2, { sub: 'ben' }),
      entry(3, { route: 'POST /x' }),
      entry(4, { kind: 'refused' }),
      entry(5, { jti: 'tok_a' }),
    ]
    expect(withoutOwnLooks(entries, 'ann').map((each) => each.seq)).toEqual([2, 3, 4, 5])
  })

  it('describes known actions in words', () => {
    const route = 'POST /threads/{thread_id}/snapshots'
    expect(deedOf(entry(1, { route }))).toBe('Took a snapshot')
    expect(deedOf(entry(1, { route, kind: 'refused', outcome: 403 }))).toBe('Was refused')
    expect(deedOf(entry(1, { route: 'GET /new' }))).toBe('Called the API')
    expect(deedOf(entry(1, { kind: 'signed_in' }))).toBe('Signed in')
  })

  it('is saved as NDJSON', () => {
    expect(
      ndjson([entry(1), entry(2)])
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).seq),
    ).toEqual([1, 2])
  })

  it('adds the counts of folded entries', () => {
    expect(fold([entry(1, { count: 5 }), entry(2)])[0]?.times).toBe(6)
  })

  it('is saved as CSV without formulas', () => {
    const [head, line] = csv([entry(1, { sub: '=cmd()', detail: 'a "b", c' })]).split('\r\n')
    expect(head).toBe('seq,at,last_at,count,sub,kind,route,outcome,aud,thread_id,jti,scope,detail')
    expect(line).toBe(`1,${AT},,1,'=cmd(),used,GET /x,200,,,,,"a ""b"", c"`)
  })
})

describe('tokens', () => {
  const issued = (seq: number, jti: string, until?: string) =>
    entry(seq, {
      kind: 'issued',
      jti,
      scope: 'fs:ro shell:ro',
      detail: until === undefined ? 'for ann lee' : `for ann lee until ${until}`,
    })

  it('are active until they expire or are revoked', () => {
    const entries = [
      issued(1, 'tok_old'),
      entry(2, { kind: 'rotated' }),
      issued(3, 'tok_over', '2026-01-01T10:04:00Z'),
      issued(4, 'tok_good', '2026-01-01T10:06:00Z'),
      issued(5, 'tok_gone', '2026-01-01T10:06:00Z'),
      issued(6, 'tok_unsaid'),
      entry(7, { kind: 'revoked', detail: 'tok_gone' }),
    ]
    expect(liveTokens(entries, NOW).map((token) => token.jti)).toEqual(['tok_unsaid', 'tok_good'])
    expect(liveTokens(entries, NOW)[1]).toMatchObject({ subject: 'ann lee', scopes: ['fs:ro', 'shell:ro'] })
  })
})
