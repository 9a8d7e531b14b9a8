import { describe, expect, it } from 'vitest'
import { adminSearch } from '~/screens/admin/parts'
import { tokenLine } from '~/screens/sharing/token-lines'
import { overdue } from '~/store/overdue'
import { allows, presetOf, tidy, toggle } from '~/store/scopes'

describe('scopes', () => {
  it('include only the weaker scope of their kind', () => {
    expect(allows(['fs:rw'], 'fs:ro')).toBe(true)
    expect(allows(['fs:ro'], 'fs:rw')).toBe(false)
    expect(allows(['shell'], 'shell:ro')).toBe(true)
    expect(allows(['process'], 'shell:ro')).toBe(false)
    expect(allows([], 'snapshot')).toBe(false)
  })

  it('replace the weaker scope by the stronger one', () => {
    expect(toggle(['fs:ro', 'shell:ro'], 'fs:rw')).toEqual(['fs:rw', 'shell:ro'])
    expect(toggle(['fs:rw'], 'fs:ro')).toEqual(['fs:ro'])
    expect(toggle(['fs:rw', 'process'], 'process')).toEqual(['fs:rw'])
    expect(tidy(['shell', 'shell:ro', 'fs:ro'])).toEqual(['fs:ro', 'shell'])
  })

  it('have a display name', () => {
    expect(presetOf(['shell:ro', 'fs:ro'])).toBe('Observer')
    expect(presetOf(['fs:rw', 'shell', 'process'])).toBe('Colleague')
    expect(presetOf(['process'])).toBeUndefined()
  })
})

describe('the example command of a token', () => {
  const given = { endpoints: { http: 'http://h:1/sandboxes/sbx1' }, thread_id: 'my thread' }

  it('uses the scopes of the token and does not contain it', () => {
    expect(tokenLine({ ...given, scopes: ['fs:rw', 'process'] })).toContain('http://h:1/sandboxes/sbx1/exec')
    expect(tokenLine({ ...given, scopes: ['fs:ro', 'shell:ro'] })).toContain('http://h:1/sandboxes/sbx1/files/')
    expect(tokenLine({ ...given, scopes: ['shell:ro'] })).toContain('http://h:1/api/v1/sandboxes/sbx1/events')
    expect(tokenLine({ ...given, scopes: ['snapshot'] })).toContain('http://h:1/threads/my%20thread/snapshots')
    expect(tokenLine({ ...given, scopes: ['snapshot'] })).toContain('Bearer $TOKEN')
  })
})

describe('the address of the admin page', () => {
  it('is validated', () => {
    expect(adminSearch({ part: 'audit', kind: 'used', before: 7, user: 12, outcome: 'refused' })).toMatchObject({
      part: 'audit',
      kind: 'used',
      before: 7,
      user: '12',
      outcome: 'refused',
    })
    const wrong = adminSearch({ part: 'x', kind: 'x', before: -1, outcome: {}, sandbox: '' })
    expect(Object.values(wrong).every((value) => value === undefined)).toBe(true)
  })
})

describe('a sandbox', () => {
  const at = Date.parse('2026-01-01T10:00:00Z')
  const moment = (seconds: number) => new Date(at + seconds * 1000).toISOString()
  const fine = { state: 'running', created_at: moment(-3600), expires_at: moment(60), ends_at: moment(3600) }

  it('is overdue after its start time, lease or lifetime', () => {
    expect(overdue(fine, at)).toBeUndefined()
    expect(overdue({ ...fine, state: 'creating' }, at)).toContain('starting')
    expect(overdue({ ...fine, state: 'creating', created_at: moment(-5) }, at)).toBeUndefined()
    expect(overdue({ ...fine, expires_at: moment(-300) }, at)).toContain('lease')
    expect(overdue({ ...fine, ends_at: moment(-300) }, at)).toContain('lifetime')
  })
})
