import { backoff } from '~/live/backoff'

const TRIES = 5

/** A part of the console could not be loaded. */
export class LoadError extends Error {
  constructor(cause: unknown) {
    super('A part of the console could not be loaded.', { cause })
  }
}

/** How a part is loaded when the first way failed. */
export interface Ways {
  readonly wait: (tries: number) => Promise<void>
  readonly module: (address: string) => Promise<unknown>
  readonly style: (address: string) => Promise<unknown>
}

/** Loads a part. A failure, as of a server that restarts, is tried again after longer and longer times. */
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

/** Browsers remember that an address failed, and the loader that it asked for a style: another address is asked. */
async function another<T>(error: unknown, tries: number, { module, style }: Ways): Promise<T | undefined> {
  const message = error instanceof Error ? error.message : ''
  const sheet = /preload CSS for (\S+)/.exec(message)?.[1]
  const script = /module: (https?:\S+)/.exec(message)?.[1]
  try {
    if (sheet !== undefined) await style(sheet)
    else if (script !== undefined) return (await module(`${script}?try=${tries}`)) as T
  } catch {
    // The next try tells.
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
