import { useRouteContext } from '@tanstack/react-router'
import { LogOut } from 'lucide-react'
import type { ReactNode } from 'react'
import { shortcuts, useSingleKeys } from '~/keys/shortcuts'
import { setTheme, type Theme, useTheme } from '~/theme/theme'
import { setTimes, type Times, useTimes } from '~/theme/times'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import { moment, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Section } from '~/ui/Section'
import { useSignOut } from '../frame/use-sign-out'
import css from './Settings.module.css'
import { Webhooks } from './Webhooks'

const THEMES: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' }
const TIMES: Readonly<Record<Times, string>> = { relative: 'Relative', absolute: 'Date and time' }

/** Settings of the console in this browser, and the signed-in user. */
export function SettingsScreen() {
  const areKeysOn = useSingleKeys()
  return (
    <div className={css.screen}>
      <h1>Settings</h1>
      <Section title="This browser" about="Stored in this browser only.">
        <Choice legend="Colours" options={THEMES} chosen={useTheme()} onChoose={setTheme} />
        <Choice legend="Times" options={TIMES} chosen={useTimes()} onChoose={setTimes} />
        <fieldset className={form.set}>
          <legend>Keyboard</legend>
          <label className={form.choice}>
            <input
              type="checkbox"
              checked={areKeysOn}
              onChange={(event) => shortcuts.setSingle(event.target.checked)}
            />
            <span>
              Keys without Ctrl or Alt
              <span className={css.hint}> — turn them off if you use voice input.</span>
            </span>
          </label>
        </fieldset>
      </Section>
      <Account />
      <Webhooks />
      <Server />
    </div>
  )
}

interface ChoiceProps<T extends string> {
  readonly legend: string
  readonly options: Readonly<Record<T, string>>
  readonly chosen: T
  readonly onChoose: (value: T) => void
}

function Choice<T extends string>({ legend, options, chosen, onChoose }: ChoiceProps<T>) {
  return (
    <fieldset className={form.set}>
      <legend>{legend}</legend>
      <div className={css.options}>
        {(Object.keys(options) as T[]).map((value) => (
          <label key={value} className={form.choice}>
            <input type="radio" name={legend} checked={value === chosen} onChange={() => onChoose(value)} />
            {options[value]}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function Account() {
  const { session } = useRouteContext({ from: '/frame' })
  const leave = useSignOut()
  const until = session.expires_at
  const now = useNow()
  const left = until === undefined ? 0 : Date.parse(until) - now
  return (
    <Section
      title="Signed in"
      actions={
        <Button icon={LogOut} onClick={leave}>
          Sign out of this browser
        </Button>
      }
    >
      <dl className={css.facts}>
        <Fact name="As">
          {session.user_id}
          {session.is_admin && ', the admin'}
        </Fact>
        {until !== undefined && (
          <Fact name="Until">
            {moment(until)}, {left > 0 ? `in ${span(left)}` : 'now'}
          </Fact>
        )}
      </dl>
      <p className={css.hint}>
        The browser stores a session, not the key. If the key is revoked, all its sessions end.
      </p>
    </Section>
  )
}

function Server() {
  const { session } = useRouteContext({ from: '/frame' })
  return (
    <Section title="Server">
      <dl className={css.facts}>
        <Fact name="Address">{location.origin}</Fact>
        <Fact name="Version">{session.server.version}</Fact>
        {session.server.build && (
          <Fact name="Console">
            <code>{session.server.build}</code>
          </Fact>
        )}
      </dl>
      <ul className={css.links}>
        <li>
          <a href="/openapi.json" target="_blank" rel="noreferrer">
            OpenAPI document
          </a>
        </li>
        <li>
          <a href="/health" target="_blank" rel="noreferrer">
            Health
          </a>
        </li>
        <li className={css.hint}>
          Guides and reference come with the program, in <code>docs/</code>; <code>viv help</code> has the commands.
        </li>
      </ul>
    </Section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={css.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
