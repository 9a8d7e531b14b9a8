import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readAgain } from '~/api/read-again'

const KEY = ['sandbox', 'sbx1', 'reviews']

describe('readAgain', () => {
  let queries: QueryClient
  let respond: ((reviews: string) => void)[]

  beforeEach(() => {
    queries = new QueryClient()
    respond = []
  })
  afterEach(() => queries.clear())

  function observed() {
    const queryFn = () => new Promise<string>((resolve) => respond.push(resolve))
    const observer = new QueryObserver(queries, { queryKey: KEY, queryFn })
    observer.subscribe(() => undefined)
    return observer
  }

  it('drops a first response that is older than the change', async () => {
    const observer = observed()
    const read = readAgain(queries, ['sandbox', 'sbx1'])
    await expect.poll(() => respond.length).toBe(2)
    respond[0]?.('none')
    respond[1]?.('one')
    await read
    expect(observer.getCurrentResult().data).toBe('one')
  })

  it('drops a later response that is older than the change', async () => {
    const observer = observed()
    respond[0]?.('none')
    await expect.poll(() => observer.getCurrentResult().data).toBe('none')
    void observer.refetch()
    const read = readAgain(queries, KEY)
    await expect.poll(() => respond.length).toBe(3)
    respond[1]?.('none')
    respond[2]?.('one')
    await read
    expect(observer.getCurrentResult().data).toBe('one')
  })

  it('keeps the data while it reads', async () => {
    const observer = observed()
    respond[0]?.('none')
    await expect.poll(() => observer.getCurrentResult().data).toBe('none')
    const read = readAgain(queries, KEY)
    await expect.poll(() => respond.length).toBe(2)
    expect(observer.getCurrentResult().data).toBe('none')
    respond[1]?.('one')
    await read
  })
})
