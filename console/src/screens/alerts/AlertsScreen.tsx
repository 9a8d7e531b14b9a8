import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { SEVERITIES, type Severity } from '~/api/supervision'
import { arranged } from '~/store/alerts'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { AlertList, LOOKS } from './AlertList'
import css from './Alerts.module.css'
import { useAlerts } from './use-alerts'

/** Events that may need a person. */
export function AlertsScreen() {
  const { severity, acknowledged = false } = useSearch({ from: '/frame/console/alerts' })
  const navigate = useNavigate({ from: '/console/alerts' })
  const { data, error, refetch } = useAlerts()
  const shown = useMemo(() => arranged(data ?? [], severity, acknowledged), [data, severity, acknowledged])
  const choose = (part: { severity?: Severity; acknowledged?: true }) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true })
  if (data === null) return <Empty isPage title="This server has no alerts" />
  return (
    <div className={css.screen}>
      <h1>Alerts</h1>
      <search className={css.tools} data-pane>
        <fieldset className={css.chips}>
          <legend className="visually-hidden">Severity</legend>
          {SEVERITIES.map((one) => (
            <button
              key={one}
              type="button"
              className={css.chip}
              aria-pressed={severity === one}
              onClick={() => choose({ severity: severity === one ? undefined : one })}
            >
              {LOOKS[one].word}
            </button>
          ))}
        </fieldset>
        <label className={css.also}>
          <input
            type="checkbox"
            checked={acknowledged}
            onChange={({ target }) => choose({ acknowledged: target.checked || undefined })}
          />
          Also acknowledged
        </label>
      </search>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={6} label="Loading the alerts" />}
      {data !== undefined && shown.length === 0 && <Nothing isFiltered={data.length > 0 && severity !== undefined} />}
      <AlertList alerts={shown} />
    </div>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No alert matches" />
  return (
    <Empty title="No open alerts">
      <p>The server reports failed tasks, stopped runs and unusual figures here.</p>
    </Empty>
  )
}
