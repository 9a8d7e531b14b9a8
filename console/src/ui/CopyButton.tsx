import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { sentence } from '~/api/problem'
import { Button } from './Button'
import { copy } from './copy'

const SHOWN_MS = 2_000

/** Button that copies a text and confirms it. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [outcome, setOutcome] = useState('')
  useEffect(() => {
    if (outcome === '') return
    const timer = setTimeout(() => setOutcome(''), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  return (
    <span>
      <Button
        icon={outcome === 'Copied' ? Check : Copy}
        onClick={() => {
          copy(text)
            .then(() => setOutcome('Copied'))
            .catch((error: unknown) => setOutcome(sentence(error)))
        }}
      >
        {outcome === 'Copied' ? 'Copied' : label}
      </Button>
      <span role="status" className={outcome === 'Copied' ? 'visually-hidden' : undefined}>
        {outcome}
      </span>
    </span>
  )
}
