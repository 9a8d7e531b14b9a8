import { backoff } from '~/live/backoff'

const TRIES = 5

/** A part of the console failed to load. */
export class LoadError extends Error {
  constructor(cause: unknown) {
    super('A part of the console could not be loaded.', { cause })
  }
}

/** Loader for the retries of a part. */
export interface Ways {
  readonly wait: (tries: number) => Promise<void>
  readonly module: (address: string) => Promise<unknown>
  readonly style: (address: string) => Promise<unknown>
}

/** Loads a part. Retries a failure, such as during a restart of the server, with increasing delays. */
export async function loadPart<T>(load: () => Promise<T>, ways: Ways = BROWSER): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await load()
    } catch (error) {
      if (tries === TRIES) throw new LoadError(error)
      await ways.wait(tries)
      const found = await another<T>(error, tries, ways)
      if (found !== undefined) return found
    }
  }
}

/**
 * Browsers cache the failure of an address, and the loader caches that it requested a style, so another address is
 * used.
 */
async function another<T>(error: unknown, tries: number, { module, style }: Ways): Promise<T | undefined> {
  const message = error instanceof Error ? error.message : ''
  const sheet = /preload CSS for (\S+)/.exec(message)?.[1]
  const script = /module: (https?:\S+)/.exec(message)?.[1]
  try {
    if (sheet !== undefined) await style(sheet)
    else if (script !== undefined) return (await module(`${script}?try=${tries}`)) as T
  } catch {
    // The next attempt reports the failure.
  }
  return undefined
}

const BROWSER: Ways = {
  wait: (tries) => new Promise((resolve) => setTimeout(resolve, backoff(tries - 1))),
  module: (address) => import(/* @vite-ignore */ address),
  style: (address) =>
    new Promise((resolve, reject) => {
      const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address })
      link.addEventListener('load', resolve)
      link.addEventListener('error', reject)
      document.head.append(link)
    }),
}
