const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Duration in at most two units: `4 s`, `2 m`, `3 h 5 m`, `12 d`. */
export function span(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} m`
  return `${Math.floor(ms / DAY)} d`
}

/** Like `span`, but without milliseconds. */
export function ago(ms: number): string {
  return ms < SECOND ? 'now' : span(ms)
}

/** Measured duration: tenths of a second below a minute. */
export function took(ms: number): string {
  return ms >= SECOND && ms < MINUTE ? `${(ms / SECOND).toFixed(1)} s` : span(ms)
}

export function money(usd: number): string {
  return usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`
}

export function count(value: number): string {
  if (value < 10_000) return value.toLocaleString('en')
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 100_000 ? 1 : 0)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`
  if (value < 1024 ** 2) return `${(value / 1024).toFixed(0)} KB`
  if (value < 1024 ** 3) return `${(value / 1024 ** 2).toFixed(0)} MB`
  return `${(value / 1024 ** 3).toFixed(1)} GB`
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export function clock(at: string | number): string {
  return CLOCK.format(new Date(at))
}

export function moment(at: string | number): string {
  return MOMENT.format(new Date(at))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const DECEPTIVE = /[\u0000-\u0008\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/**
 * Makes characters visible that change the display of the text around them, because the text of agents is untrusted.
 */
export function plain(words: string): string {
  return words.replace(DECEPTIVE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Number with all digits. */
export function whole(value: number): string {
  return value.toLocaleString('en')
}
