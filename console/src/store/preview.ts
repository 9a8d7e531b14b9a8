/** Addresses of previews on the server. */
export interface Previews {
  readonly domain: string
  readonly is_secure: boolean
}

/** Addresses of a port of a sandbox. */
export interface PreviewPlace {
  /** Own host without a trailing slash; undefined if the browser cannot resolve it. */
  readonly host: string | undefined
  /** Path below the API, for a single page. The browser gives it an opaque origin without cookies. */
  readonly path: string
  /** Whether a frame can show the address. An own host needs a cookie, which browsers keep only in a secure context. */
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
  // Names below localhost are on the user's machine, wherever the server is.
  const isFound = !isLocalDomain || isLocalHere
  const scheme = previews.is_secure ? 'https' : 'http'
  const behind = here.port === '' ? '' : `:${here.port}`
  const host = isFound ? `${scheme}://${port}-${sandboxId}.${previews.domain}${behind}` : undefined
  const keepsCookies = previews.is_secure || isLocalDomain
  return { host, path, framed: host !== undefined && keepsCookies ? host : path }
}

/**
 * Address that signs a browser in: the server exchanges the token for a cookie and redirects to an address without it.
 */
export function entrance(place: string, token: string): string {
  return `${place}/?viv_token=${encodeURIComponent(token)}`
}
