import { useId, useState } from 'react'
import { CopyButton } from '~/ui/CopyButton'
import { plain } from '~/ui/format'
import type { Snippet } from './code'
import css from './SpawnScreen.module.css'

/** The form as code. */
export function CodePane({ snippets }: { snippets: readonly Snippet[] }) {
  const [chosen, choose] = useState<Snippet['id']>('curl')
  const snippet = snippets.find((one) => one.id === chosen) ?? snippets[0]
  const titleId = useId()
  if (snippet === undefined) return null
  return (
    <section className={css.code} aria-labelledby={titleId}>
      <header className={css.codeHead}>
        <h2 id={titleId}>The request as code</h2>
        <CopyButton text={snippet.code} />
      </header>
      <fieldset className={css.languages}>
        <legend className="visually-hidden">Language</legend>
        {snippets.map((one) => (
          <button
            key={one.id}
            type="button"
            className={css.language}
            aria-pressed={one.id === snippet.id}
            onClick={() => choose(one.id)}
          >
            {one.label}
          </button>
        ))}
      </fieldset>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and that must be possible with keys */}
      <pre className={css.snippet} tabIndex={0}>
        {plain(snippet.code)}
      </pre>
      <p className={css.note}>{snippet.note}</p>
    </section>
  )
}
