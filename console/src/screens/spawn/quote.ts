const PLAIN = /^[A-Za-z0-9_./:@%+=,-]+$/

/** Quotes a word for a POSIX shell: unchanged if safe, otherwise in single quotes. */
export function shellWord(word: string): string {
  return PLAIN.test(word) ? word : inSingleQuotes(word)
}

function inSingleQuotes(words: string): string {
  return `'${words.replaceAll("'", `'\\''`)}'`
}

/** Part of a text: literal, or a secret from the environment. */
export type Piece = { readonly text: string } | { readonly secret: string }

/** A body as JSON, with the secrets of its environment separate. */
export function pieces(body: object, secrets: readonly string[]): Piece[] {
  const given = 'env' in body ? (body.env as Record<string, string>) : {}
  const env = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, secrets.includes(name) ? mark(name) : value]),
  )
  const json = JSON.stringify('env' in body ? { ...body, env } : body, null, 2)
  return secrets.reduce<Piece[]>((parts, name) => parts.flatMap((part) => cut(part, name)), [{ text: json }])
}

/** Placeholder: the text of a form contains no NUL. */
function mark(name: string): string {
  return `\u0000${name}`
}

function cut(part: Piece, name: string): Piece[] {
  if ('secret' in part) return [part]
  return part.text
    .split(JSON.stringify(mark(name)))
    .flatMap((text, index) => (index === 0 ? [{ text }] : [{ secret: name }, { text }]))
}

/** One word for a POSIX shell, in which secrets are references to variables. */
export function shellText(parts: readonly Piece[]): string {
  const words = parts.map((part) => ('text' in part ? part.text.replaceAll("'", `'\\''`) : `"'"$${part.secret}"'"`))
  return `'${words.join('')}'`
}

/** JSON is valid Python if it contains neither `true`, `false` nor `null`. */
export function pythonText(parts: readonly Piece[]): string {
  return parts.map((part) => ('text' in part ? part.text : `os.environ[${JSON.stringify(part.secret)}]`)).join('')
}

/** A text block of Java. Secrets are inserted between closing and opening quotes. */
export function javaText(parts: readonly Piece[], indent: string): string {
  const blocks = parts.map((part, index) => {
    if ('secret' in part) return `System.getenv(${JSON.stringify(part.secret)})`
    const open = index > 0 ? '"' : ''
    const close = index < parts.length - 1 ? '\\"' : ''
    const text = `${open}${part.text}`.replaceAll('\\', '\\\\').replaceAll('"""', '\\"""')
    return `"""\n${indent}${(text + close).replaceAll('\n', `\n${indent}`)}"""`
  })
  return blocks.join(' + ')
}

/** A string literal of Java. The escapes of JSON are valid in Java. */
export function javaString(words: string): string {
  return JSON.stringify(words)
}
