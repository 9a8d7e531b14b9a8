import { type FormEvent, useState } from 'react'
import { sentence } from '~/api/problem'
import type { components } from '~/api/schema'
import type { Sandbox } from '~/api/types'
import { PRESETS, type Scope } from '~/store/scopes'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import form from '~/ui/form.module.css'
import { clock } from '~/ui/format'
import { Secret } from '~/ui/Secret'
import { ScopeMarks, ScopePicker } from './ScopePicker'
import { tokenLine } from './token-lines'
import type { Sharing } from './use-sharing'

type Token = components['schemas']['Token']

const LIVES = [
  { seconds: 60, words: '1 minute' },
  { seconds: 300, words: '5 minutes' },
  { seconds: 900, words: '15 minutes' },
]

interface Props {
  readonly sandbox: Sandbox
  readonly sharing: Sharing
  readonly onClose: () => void
}

/** Issues a token and shows it once. */
export function TokenDialog({ sandbox, sharing, onClose }: Props) {
  // The token exists only in this dialog.
  const [token, setToken] = useState<Token>()
  return (
    <Dialog title={token ? 'The token, shown once' : 'Issue a token'} onClose={onClose}>
      {token ? (
        <Shown token={token} onClose={onClose} />
      ) : (
        <Choice thread={sandbox.thread_id} sharing={sharing} onToken={setToken} />
      )}
    </Dialog>
  )
}

function Choice({ thread, sharing, onToken }: { thread: string; sharing: Sharing; onToken: (token: Token) => void }) {
  const [scopes, setScopes] = useState<readonly Scope[]>(PRESETS[0].scopes)
  const [ttl, setTtl] = useState(900)
  const { mutate, isPending, error } = sharing.give
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate({ scopes, ttl }, { onSuccess: onToken })
  }
  return (
    <form className={form.form} onSubmit={submit}>
      <p>
        The token gives access to the sandbox of <code>{thread}</code> without an account.
      </p>
      <ScopePicker chosen={scopes} onChoose={setScopes} />
      <fieldset className={form.set}>
        <legend>Lifetime</legend>
        <div className={form.row}>
          {LIVES.map(({ seconds, words }) => (
            <label key={seconds} className={form.choice}>
              <input type="radio" name="ttl" checked={ttl === seconds} onChange={() => setTtl(seconds)} />
              {words}
            </label>
          ))}
        </div>
      </fieldset>
      {error && (
        <p role="alert" className={form.problem}>
          {sentence(error)}
        </p>
      )}
      <div className={form.choices}>
        <Button type="submit" look="primary" disabled={isPending || scopes.length === 0}>
          Issue the token
        </Button>
      </div>
    </form>
  )
}

function Shown({ token, onClose }: { token: Token; onClose: () => void }) {
  return (
    <div className={form.form}>
      <p>
        The token expires at {clock(token.expires_at)} and allows <ScopeMarks scopes={token.scopes} />. The server does
        not show it again.
      </p>
      <Secret label="Token" text={token.token} />
      <Secret label="Line" text={tokenLine(token)} />
      <p className={form.hint}>
        The line expects the token in the variable <code>TOKEN</code>.
      </p>
      <div className={form.choices}>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  )
}
