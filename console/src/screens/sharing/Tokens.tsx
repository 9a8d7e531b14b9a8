import { KeyRound, RotateCcwKey, X } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '~/api/problem'
import type { Sandbox } from '~/api/types'
import { liveTokens } from '~/store/audit'
import { Button } from '~/ui/Button'
import { Confirm } from '~/ui/Confirm'
import form from '~/ui/form.module.css'
import { span } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Section } from '~/ui/Section'
import { Failure } from '~/ui/States'
import { ScopeMarks } from './ScopePicker'
import css from './Sharing.module.css'
import { TokenDialog } from './TokenDialog'
import { type Sharing, useTokenEntries } from './use-sharing'

/** Short-lived tokens for this sandbox, for callers without an account. */
export function Tokens({ sandbox, sharing }: { sandbox: Sandbox; sharing: Sharing }) {
  const { data = [], error, refetch } = useTokenEntries(sandbox, true)
  const [open, setOpen] = useState<'give' | 'rotate'>()
  const tokens = liveTokens(data, useNow())
  const problem = sharing.revoke.error ?? sharing.rotate.error
  const isOver = sandbox.end !== undefined
  const actions = !isOver && (
    <>
      <Button icon={RotateCcwKey} disabled={tokens.length === 0} onClick={() => setOpen('rotate')}>
        Revoke all
      </Button>
      <Button icon={KeyRound} onClick={() => setOpen('give')}>
        Issue a token
      </Button>
    </>
  )
  return (
    <Section
      title="Tokens"
      about={
        isOver ? 'Tokens ended with the sandbox.' : 'For a program or a person without an account. A token expires.'
      }
      actions={actions}
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!isOver && tokens.length === 0 && <p className={css.quiet}>No valid tokens.</p>}
      <ul className={css.list}>
        {!isOver &&
          tokens.map((token) => (
            <TokenLine
              key={token.jti}
              token={token}
              isBusy={sharing.revoke.isPending}
              onRevoke={() => sharing.revoke.mutate(token.jti)}
            />
          ))}
      </ul>
      {problem && (
        <p role="alert" className={form.problem}>
          {sentence(problem)}
        </p>
      )}
      {open === 'give' && <TokenDialog sandbox={sandbox} sharing={sharing} onClose={() => setOpen(undefined)} />}
      {open === 'rotate' && (
        <Confirm
          title="Revoke all tokens?"
          keep="Keep them"
          confirm="Revoke all"
          onClose={() => setOpen(undefined)}
          onConfirm={() => sharing.rotate.mutate()}
        >
          The server revokes all tokens of this sandbox and closes their connections. API keys stay valid, and their
          programs request new tokens.
        </Confirm>
      )}
    </Section>
  )
}

type Line = { token: ReturnType<typeof liveTokens>[number]; isBusy: boolean; onRevoke: () => void }

function TokenLine({ token, isBusy, onRevoke }: Line) {
  return (
    <li className={css.person}>
      <code className={css.name}>{token.jti}</code>
      <ScopeMarks scopes={token.scopes} />
      <span className={css.quiet}>
        for {token.subject}, ends in {span(token.endsAt - useNow())}
      </span>
      <span className={css.actions}>
        <Button look="quiet" compact icon={X} disabled={isBusy} title="Revoke the token" onClick={onRevoke}>
          {`Revoke the token ${token.jti}`}
        </Button>
      </span>
    </li>
  )
}
