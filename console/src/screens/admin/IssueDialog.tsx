import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, body } from '~/api/client'
import { sentence } from '~/api/problem'
import type { components } from '~/api/schema'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { Field } from '~/ui/Field'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'
import { Secret } from '~/ui/Secret'

type Issued = components['schemas']['IssuedKey']

/** Issues a key and shows it once. */
export function IssueDialog({ onClose }: { onClose: () => void }) {
  // The key exists only in this dialog.
  const [issued, setIssued] = useState<Issued>()
  return (
    <Dialog title={issued ? 'The API key, shown once' : 'Issue an API key'} onClose={onClose}>
      {issued ? <Shown issued={issued} onClose={onClose} /> : <Ask onIssued={setIssued} />}
    </Dialog>
  )
}

function Ask({ onIssued }: { onIssued: (issued: Issued) => void }) {
  const [user, setUser] = useState('')
  const [label, setLabel] = useState('')
  const [days, setDays] = useState('')
  const queries = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      body(
        api.POST('/admin/keys', {
          body: { user_id: user.trim(), label: label.trim() || undefined, expires_at: inDays(Number(days)) },
        }),
      ),
    onSuccess: onIssued,
    onSettled: () => queries.invalidateQueries({ queryKey: ['admin', 'keys'] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={form.form} onSubmit={submit}>
      <Field label="User id" hint="The first key creates the user. A user may have several keys.">
        {(control) => (
          <input
            {...control}
            value={user}
            required
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setUser(event.target.value)}
          />
        )}
      </Field>
      <Field label="Label (optional)" hint="The purpose of the key, such as a machine or a program.">
        {(control) => (
          <input
            {...control}
            value={label}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setLabel(event.target.value)}
          />
        )}
      </Field>
      <Field label="Expires">
        {(control) => (
          <select {...control} value={days} onChange={(event) => setDays(event.target.value)}>
            <option value="">never</option>
            <option value="7">in 7 days</option>
            <option value="30">in 30 days</option>
            <option value="90">in 90 days</option>
            <option value="365">in a year</option>
          </select>
        )}
      </Field>
      {error && (
        <p role="alert" className={form.problem}>
          {sentence(error)}
        </p>
      )}
      <div className={form.choices}>
        <Button type="submit" look="primary" disabled={isPending || user.trim() === ''}>
          Issue the key
        </Button>
      </div>
    </form>
  )
}

function inDays(days: number): string | undefined {
  return days === 0 ? undefined : new Date(Date.now() + days * 86_400_000).toISOString()
}

function Shown({ issued, onClose }: { issued: Issued; onClose: () => void }) {
  return (
    <div className={form.form}>
      <p>
        Send it to <strong>{plain(issued.user_id)}</strong> over a secure channel. The server does not show it again.
      </p>
      <Secret label="Key" text={issued.key} />
      <Secret label="Line" text={`curl -H "Authorization: Bearer $VIV_API_KEY" ${location.origin}/api/v1/sandboxes`} />
      <p className={form.hint}>
        <code>viv</code> and the line read the key from the variable <code>VIV_API_KEY</code>. The console needs it to
        sign in.
      </p>
      <div className={form.choices}>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  )
}
