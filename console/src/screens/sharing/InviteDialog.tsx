import { type FormEvent, useState } from 'react'
import { sentence } from '~/api/problem'
import { PRESETS, type Scope } from '~/store/scopes'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import { Field } from '~/ui/Field'
import form from '~/ui/form.module.css'
import { ScopePicker } from './ScopePicker'
import type { Sharing } from './use-sharing'

interface Props {
  readonly sharing: Sharing
  /** The invited user; undefined for a new invitation. */
  readonly member?: { readonly user_id: string; readonly scopes: readonly Scope[] }
  readonly onClose: () => void
}

/** Invites a user, or changes the scopes of a member. */
export function InviteDialog({ sharing, member, onClose }: Props) {
  const [user, setUser] = useState(member?.user_id ?? '')
  const [scopes, setScopes] = useState<readonly Scope[]>(member?.scopes ?? PRESETS[0].scopes)
  const { mutate, isPending, error } = sharing.invite

  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate({ user: user.trim(), scopes }, { onSuccess: onClose })
  }
  return (
    <Dialog title={member ? `What ${member.user_id} may do` : 'Invite a user'} onClose={onClose}>
      <form className={form.form} onSubmit={submit}>
        {member === undefined && (
          <Field label="User id" hint="The user finds the sandbox in the fleet, after signing in with their own key.">
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
        )}
        <ScopePicker chosen={scopes} onChoose={setScopes} />
        {error && (
          <p role="alert" className={form.problem}>
            {sentence(error)}
          </p>
        )}
        <div className={form.choices}>
          <Button type="submit" look="primary" disabled={isPending || scopes.length === 0 || user.trim() === ''}>
            {member ? 'Save' : 'Invite'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
