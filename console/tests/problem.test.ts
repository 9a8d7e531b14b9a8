import { describe, expect, it } from 'vitest'
import { ApiError, problemOf, unreachable } from '~/api/problem'

describe('ApiError', () => {
  it('contains the problem of the server', async () => {
    const body = {
      type: 'urn:vivarium:problem:not-found',
      title: 'Not found',
      detail: 'There is no sbx1.',
      status: 404,
    }
    const error = await problemOf(Response.json(body, { status: 404, headers: { 'X-Request-Id': 'req7' } }))
    expect(error).toMatchObject({ slug: 'not-found', message: 'There is no sbx1.', status: 404, requestId: 'req7' })
    expect(error.isPassing).toBe(false)
  })

  it('has a useful message for the response of a proxy', async () => {
    const error = await problemOf(new Response('<html>', { status: 502, statusText: 'Bad Gateway' }))
    expect(error).toMatchObject({ title: 'Bad Gateway', status: 502, isPassing: true })
  })

  it('is retryable if the server is unreachable, and not if it refuses', () => {
    expect(unreachable().isPassing).toBe(true)
    expect(new ApiError({ type: 't', title: 't', detail: '', status: 403 }).isPassing).toBe(false)
  })
})
