import { describe, expect, it } from 'vitest'
import { ApiError } from '~/api/problem'
import type { send } from '~/api/upload'
import { Uploads } from '~/store/uploads'

const now = (task: () => void) => task()
const settled = () => new Promise((resolve) => setTimeout(resolve))

/** Transport whose results the test decides. */
function wire() {
  const sent: { path: string; isToReplace: boolean; progress: (n: number) => void; end: (e?: unknown) => void }[] = []
  const sending: typeof send = (_sandbox, path, _file, { isToReplace, onProgress }) => {
    let resolve = () => {}
    let reject = (_error: unknown) => {}
    const promise = new Promise<void>((yes, no) => {
      resolve = yes
      reject = no
    })
    const end = (error?: unknown) => (error === undefined ? resolve() : reject(error))
    sent.push({ path, isToReplace, progress: onProgress, end })
    return { done: promise, cancel: () => reject(new DOMException('', 'AbortError')) }
  }
  return { sent, uploads: new Uploads('sbx1', sending, now) }
}

const blob = new Blob(['12345'])
const states = (uploads: Uploads) => uploads.all.map((upload) => upload.state)

describe('Uploads', () => {
  it('sends two files at a time and reports progress', async () => {
    const { sent, uploads } = wire()
    for (const name of ['a', 'b', 'c']) uploads.add(name, blob)
    expect(states(uploads)).toEqual(['sending', 'sending', 'waiting'])
    sent[0]?.progress(3)
    expect(uploads.all[0]?.sent).toBe(3)
    sent[0]?.end()
    await settled()
    expect(states(uploads)).toEqual(['done', 'sending', 'sending'])
  })

  it('replaces nothing without confirmation', async () => {
    const { sent, uploads } = wire()
    uploads.add('a', blob)
    sent[0]?.end(new ApiError({ type: 'x', title: 'x', detail: '', status: 412 }))
    await settled()
    expect(states(uploads)).toEqual(['exists'])
    uploads.replace(1)
    expect(sent[1]?.isToReplace).toBe(true)
    sent[1]?.end()
    await settled()
    expect(states(uploads)).toEqual(['done'])
  })

  it('shows the reason of a rejection and retries', async () => {
    const { sent, uploads } = wire()
    uploads.add('a', blob)
    sent[0]?.end(new ApiError({ type: 'x', title: 'x', detail: 'the workspace is full', status: 507 }))
    await settled()
    expect(uploads.all[0]).toMatchObject({ state: 'failed', problem: 'the workspace is full' })
    uploads.retry(1)
    expect(states(uploads)).toEqual(['sending'])
  })

  it('cancels active and queued uploads', async () => {
    const { uploads } = wire()
    for (const name of ['a', 'b', 'c']) uploads.add(name, blob)
    uploads.cancel(3)
    uploads.cancel(1)
    await settled()
    expect(states(uploads)).toEqual(['cancelled', 'sending', 'cancelled'])
    uploads.clear()
    expect(states(uploads)).toEqual(['sending'])
  })
})
