/** Splits a command line into words like a shell. Returns a sentence if that fails. */
export type Words = { readonly words: readonly string[] } | { readonly problem: string }

/** Removes quotes and backslashes like a shell. Expands nothing: `$HOME` and `*` stay unchanged. */
export function split(line: string): Words {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    const next = line.charAt(at + 1)
    if (quote !== '' && character === quote) quote = ''
    else if (quote === "'") word += character
    else if (quote === '"') {
      const isEscape = character === '\\' && '"\\$`\n'.includes(next) && next !== ''
      if (isEscape) at++
      word += isEscape ? next : character
    } else if (character === "'" || character === '"') {
      quote = character
      word ??= ''
    } else if (character === '\\' && next !== '') {
      word = (word ?? '') + next
      at++
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  if (quote !== '') return { problem: `A ${quote === '"' ? 'double' : 'single'} quote is not closed.` }
  if (word !== undefined) words.push(word)
  return { words }
}
