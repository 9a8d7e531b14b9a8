import { EditorState, type Extension } from '@codemirror/state'

/**
 * How the editor ends lines, so that a text which nobody touched is given back byte for byte. What has both kinds of
 * ends keeps its carriage returns as characters that are seen.
 */
export function lineEndsOf(text: string): Extension {
  if (!text.includes('\r')) return []
  const isAllOfOneKind = !/\r(?!\n)|(?<!\r)\n/.test(text)
  return EditorState.lineSeparator.of(isAllOfOneKind ? '\r\n' : '\n')
}
