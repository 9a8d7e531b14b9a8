import { describe, expect, it, vi } from 'vitest'
import { LoadError, loadPart, type Ways } from '~/ui/load-part'

const REFUSED = new TypeError('Failed to fetch dynamically imported module: http://x/assets/a.js')

function ways(more: Partial<Ways> = {}): Ways {
  const never = () => Promise.reject(REFUSED)
  return { wait: () => Promise.resolve(), module: never, style: never, ...more }
}

describe('loadPart', () => {
  it('tries again until the server is back', async () => {
    const wait = vi.fn(() => Promise.resolve())
    const load = vi.fn().mockRejectedValueOnce(REFUSED).mockRejectedValueOnce(REFUSED).mockResolvedValue('part')
    expect(await loadPart(load, ways({ wait }))).toBe('part')
    expect(wait.mock.calls).toEqual([[1], [2]])
  })

  it('asks for another address if the browser remembers the failure', async () => {
    const module = vi.fn().mockRejectedValueOnce(REFUSED).mockResolvedValue('part')
    expect(await loadPart(() => Promise.reject(REFUSED), ways({ module }))).toBe('part')
    expect(module.mock.calls).toEqual([['http://x/assets/a.js?try=1'], ['http://x/assets/a.js?try=2']])
  })

  it('loads a style that failed before the part', async () => {
    const style = vi.fn().mockResolvedValue(undefined)
    const load = vi.fn().mockRejectedValueOnce(new Error('Unable to preload CSS for /assets/a.css'))
    load.mockResolvedValue('part')
    expect(await loadPart(load, ways({ style }))).toBe('part')
    expect(style.mock.calls).toEqual([['/assets/a.css']])
  })

  it('fails after some tries', async () => {
    const load = vi.fn().mockRejectedValue(REFUSED)
    await expect(loadPart(load, ways())).rejects.toThrow(LoadError)
    expect(load.mock.calls.length).toBe(5)
  })
})
