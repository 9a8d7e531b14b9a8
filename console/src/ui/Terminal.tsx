import Anser from 'anser'
import { useMemo } from 'react'
import css from './Terminal.module.css'
import tones from './tones.module.css'

const COLOURS: Readonly<Record<string, string>> = {
  'ansi-red': 'bad',
  'ansi-bright-red': 'bad',
  'ansi-green': 'ok',
  'ansi-bright-green': 'ok',
  'ansi-yellow': 'warn',
  'ansi-bright-yellow': 'warn',
  'ansi-blue': 'info',
  'ansi-bright-blue': 'info',
  'ansi-cyan': 'info',
  'ansi-bright-cyan': 'info',
  'ansi-magenta': 'mind',
  'ansi-bright-magenta': 'mind',
}

/** Output of a program, with its colours mapped to readable ones of both themes. */
export function Terminal({ children }: { children: string }) {
  const pieces = useMemo(() => Anser.ansiToJson(shown(children), { use_classes: true, remove_empty: true }), [children])
  return (
    <pre className={`scrolls ${css.terminal}`}>
      {pieces.map((piece, index) => {
        const colour = tones[COLOURS[piece.fg] ?? ''] ?? ''
        const weight = piece.decorations.includes('bold') ? css.bold : ''
        return (
          <span key={index} className={`${colour} ${weight}`}>
            {piece.content}
          </span>
        )
      })}
    </pre>
  )
}

/** A carriage return overwrites the line. */
function shown(words: string): string {
  return words.replaceAll('\r\n', '\n').replace(/^[^\n]*\r(?=[^\n])/gm, '')
}
