/** The parts of an OpenAPI document that the reference shows. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly additionalProperties?: Schema | boolean
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}

interface RawOperation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema?: Schema
  }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
  readonly responses?: Readonly<
    Record<
      string,
      { readonly description?: string; readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
    >
  >
}

/** A field of a body, or a parameter. `depth` counts the objects around it. */
export interface Field {
  readonly name: string
  readonly where: string
  readonly type: string
  readonly isRequired: boolean
  readonly about: string
  readonly depth: number
}

export interface Reply {
  readonly status: string
  readonly about: string
  readonly mediaType: string
  readonly fields: readonly Field[]
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly group: string
  readonly title: string
  readonly about: string
  readonly needsCredential: boolean
  readonly parameters: readonly Field[]
  readonly body: readonly Field[]
  readonly replies: readonly Reply[]
}

/** Deeper objects are shown by their type only. */
const DEPTH = 3

/** All operations of a document, in its order. */
export function operations(document: OpenApi): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => operation(document, path, method, raw)),
  )
}

function operation(document: OpenApi, path: string, method: string, raw: RawOperation): Operation {
  const body = Object.values(raw.requestBody?.content ?? {})[0]?.schema
  return {
    id: raw.operationId ?? `${method}-${path}`,
    method: method.toUpperCase(),
    path,
    group: group(path),
    title: raw.summary ?? path,
    about: raw.description ?? '',
    needsCredential: raw.security === undefined || raw.security.length > 0,
    parameters: (raw.parameters ?? []).map((one) => ({
      name: one.name,
      where: one.in,
      type: typeName(document, one.schema ?? {}),
      isRequired: one.required === true,
      about: one.description ?? '',
      depth: 0,
    })),
    body: body ? fields(document, body, 0) : [],
    replies: Object.entries(raw.responses ?? {}).map(([status, reply]) => {
      const [mediaType, content] = Object.entries(reply.content ?? {})[0] ?? ['', undefined]
      const isProblem = mediaType === 'application/problem+json'
      return {
        status,
        about: reply.description ?? '',
        mediaType,
        fields: content?.schema && !isProblem ? fields(document, content.schema, 0) : [],
      }
    }),
  }
}

/** The first word of a path, after the version: operations with the same one belong together. */
function group(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'api' && word !== 'v1' && word !== 'ws')
  return words[0]?.startsWith('{') === false ? words[0] : 'server'
}

function resolved(document: OpenApi, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (document.components?.schemas?.[name] ?? {})
}

function fields(document: OpenApi, schema: Schema, depth: number): readonly Field[] {
  const whole = resolved(document, schema)
  if (depth >= DEPTH) return []
  if (whole.items) return fields(document, whole.items, depth)
  const required = new Set(whole.required ?? [])
  return Object.entries(whole.properties ?? {}).flatMap(([name, one]) => [
    {
      name,
      where: 'body',
      type: typeName(document, one),
      isRequired: required.has(name),
      about: one.description ?? resolved(document, one).description ?? '',
      depth,
    },
    ...fields(document, one, depth + 1),
  ])
}

function typeName(document: OpenApi, schema: Schema): string {
  const whole = resolved(document, schema)
  if (whole.const !== undefined) return JSON.stringify(whole.const)
  if (whole.enum) return whole.enum.map((one) => JSON.stringify(one)).join(' | ')
  const choices = whole.oneOf ?? whole.anyOf
  if (choices) return choices.map((one) => typeName(document, one)).join(' | ')
  if (whole.items) return `list of ${typeName(document, whole.items)}`
  const type = whole.type ?? 'any'
  return typeof type === 'string' ? type : type.join(' | ')
}

/** Operations whose method, path or title contains all words. */
export function matching(all: readonly Operation[], query: string): readonly Operation[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return all.filter((one) => {
    const text = `${one.method} ${one.path} ${one.title} ${one.id}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Operations by group, in the order of the first of each group. */
export function byGroup(all: readonly Operation[]): readonly (readonly [string, readonly Operation[]])[] {
  const groups = new Map<string, Operation[]>()
  for (const one of all) {
    const known = groups.get(one.group)
    if (known) known.push(one)
    else groups.set(one.group, [one])
  }
  return [...groups]
}
