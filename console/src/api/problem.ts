/** A refusal of the server as an RFC 9457 problem, or a failed connection. */
export class ApiError extends Error {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly requestId: string | undefined
  /** All fields of the problem, such as `field` and `rule`. */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(
    problem: { type: string; title: string; detail: string; status: number },
    requestId?: string,
    fields: Readonly<Record<string, unknown>> = {},
  ) {
    super(problem.detail || problem.title)
    this.name = 'ApiError'
    this.type = problem.type
    this.title = problem.title
    this.status = problem.status
    this.requestId = requestId
    this.fields = fields
  }

  /** Last part of the type: `not-found` for `urn:vivarium:problem:not-found`. */
  get slug(): string {
    return this.type.slice(this.type.lastIndexOf(':') + 1)
  }

  get isUnauthorized(): boolean {
    return this.status === 401
  }

  /** Whether a retry may succeed. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

const UNREACHABLE = {
  type: 'urn:vivarium:problem:unreachable',
  title: 'The server cannot be reached',
  detail: 'The server cannot be reached. The page shows the last data it received.',
  status: 0,
}

export function unreachable(): ApiError {
  return new ApiError(UNREACHABLE)
}

/** Reads the problem from a response, also if a proxy replaced the body. */
export async function problemOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('X-Request-Id') ?? undefined
  const body = await response.json().catch(() => undefined)
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return new ApiError(problemFields(fields, response), requestId, fields)
}

function problemFields(given: Record<string, unknown>, response: Response) {
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : '')
  const title = text('title') || response.statusText || `HTTP ${response.status}`
  return {
    type: text('type') || 'about:blank',
    title,
    detail: text('detail') || text('error') || title,
    status: response.status,
  }
}

/** One sentence for people about any thrown value. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
