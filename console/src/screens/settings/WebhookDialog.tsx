import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { sentence } from '~/api/problem'
import { addWebhook } from '~/api/supervision'
import { Button } from '~/ui/Button'
import { Choose } from '~/ui/Choose'
import { Dialog } from '~/ui/Dialog'
import { Field } from '~/ui/Field'
import form from '~/ui/form.module.css'
import { Secret } from '~/ui/Secret'
import { KEY, newSecret, webhookOf } from './webhook-form'

const FORMATS = [
  ['json', 'The event as JSON'],
  ['slack', 'A sentence for Slack'],
] as const

/** Adds a webhook and shows its secret once. */
export function WebhookDialog({ onClose }: { onClose: () => void }) {
  // Only here: it is gone when the dialog closes.
  const [secret] = useState(newSecret)
  const [isAdded, setAdded] = useState(false)
  return (
    <Dialog title={isAdded ? 'The secret, shown once' : 'Add a webhook'} onClose={onClose}>
      {isAdded ? <Shown secret={secret} onClose={onClose} /> : <Ask secret={secret} onAdded={() => setAdded(true)} />}
    </Dialog>
  )
}

function Ask({ secret, onAdded }: { secret: string; onAdded: () => void }) {
  const [url, setUrl] = useState('')
  const [types, setTypes] = useState('')
  const [format, setFormat] = useState('json')
  const queries = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => addWebhook(webhookOf(url, types, format, secret)),
    onSuccess: onAdded,
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={form.form} noValidate onSubmit={submit}>
      <Field
        label="Address"
        hint="The receiver of the events. It needs a public address, unless the operator allows others."
      >
        {(control) => (
          <input
            {...control}
            type="url"
            value={url}
            placeholder="https://hooks.example.com/vivarium"
            autoComplete="off"
            onChange={({ target }) => setUrl(target.value)}
          />
        )}
      </Field>
      <Field label="Event types (optional)" hint="Types, or prefixes that end with a dot. All events by default.">
        {(control) => (
          <input
            {...control}
            value={types}
            placeholder="task.failed guardian. workflow.stuck"
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => setTypes(target.value)}
          />
        )}
      </Field>
      <Choose label="Format" value={format} options={FORMATS} onChange={setFormat} />
      {error && (
        <p role="alert" className={form.problem}>
          {sentence(error)}
        </p>
      )}
      <div className={form.choices}>
        <Button type="submit" look="primary" disabled={isPending || url.trim() === ''}>
          Add the webhook
        </Button>
      </div>
    </form>
  )
}

function Shown({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <div className={form.form}>
      <p>The receiver checks the signature of each request with this secret. The server does not show it again.</p>
      <Secret label="Secret" text={secret} />
      <div className={form.choices}>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  )
}
