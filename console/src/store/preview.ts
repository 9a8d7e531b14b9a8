/** Where the server shows ports of sandboxes. */
export interface Previews {
  readonly domain: string
  readonly is_secure: boolean
}

/** Where a port of a sandbox is shown. */
export interface PreviewPlace {
  /** A host of its own, without a last slash; undefined if this browser would not find it. */
  readonly host: string | undefined
  /** Below the API, for a single page: the browser treats it as a stranger, without cookies of its own. */
  readonly path: string
  /** What a frame of ours can show. A host of its own needs a cookie, which browsers keep only where it is safe. */
  readonly framed: string
}

interface Where {
  readonly hostname: string
  readonly port: string
}

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]'])

export function placeOf(previews: Previews, here: Where, sandboxId: string, port: number): PreviewPlace {
  const path = `/sandboxes/${encodeURIComponent(sandboxId)}/ports/${port}`
  const isLocalDomain = previews.domain === 'localhost' || previews.domain.endsWith('.localhost')
  const isLocalHere = LOCAL.has(here.hostname) || here.hostname.endsWith('.localhost')
  // Names under localhost are the reader's own machine, wherever the server is.
  const isFound = !isLocalDomain || isLocalHere
  const scheme = previews.is_secure ? 'https' : 'http'
  const behind = here.port === '' ? '' : `:${here.port}`
  const host = isFound ? `${scheme}://${port}-${sandboxId}.${previews.domain}${behind}` : undefined
  const keepsCookies = previews.is_secure || isLocalDomain
  return { host, path, framed: host !== undefined && keepsCookies ? host : path }
}

/** The address that lets a browser in: the token becomes a cookie there, and is gone from the address. */
export function entrance(place: string, token: string): string {
  return `${place}/?viv_token=${encodeURIComponent(token)}`
}
