import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useMemo } from 'react'
import { sentence } from '~/api/problem'
import { csv, fold, ndjson } from '~/store/audit'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import { count } from '~/ui/format'
import { Section } from '~/ui/Section'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { save } from '~/ui/save'
import css from './Admin.module.css'
import { AuditFilter } from './AuditFilter'
import { AuditList } from './AuditList'
import type { AuditSearch } from './parts'
import { allOf, EXPORT_MOST, PAGE, useAudit } from './use-audit'

/** The audit log of the server. */
export function AuditPart() {
  const { part: _, ...search } = useSearch({ from: '/frame/console/admin' })
  const navigate = useNavigate({ from: '/console/admin' })
  const { data, error, refetch } = useAudit(search)
  const lines = useMemo(() => fold(data ?? []), [data])
  const isFiltered = Object.values({ ...search, before: undefined }).some((value) => value !== undefined)
  const choose = (next: AuditSearch) => void navigate({ search: { part: 'audit', ...next } })
  return (
    <Section
      title="Audit"
      about="Tokens, uses of sandboxes, refusals, members and sign-ins. The log has no tokens and no typed text."
      actions={<Export search={search} />}
    >
      <AuditFilter key={`${search.user} ${search.sandbox}`} search={search} onChoose={choose} />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={8} label="Loading the audit" />}
      {data?.length === 0 && (
        <Empty title={isFiltered ? 'No matches' : 'No entries yet'}>
          {isFiltered && <Button onClick={() => choose({})}>Show everything</Button>}
        </Empty>
      )}
      <AuditList lines={lines} />
      <div className={css.pages}>
        {search.before !== undefined && (
          <Button onClick={() => choose({ ...search, before: undefined })}>Newest</Button>
        )}
        {data && data.length === PAGE && (
          <Button onClick={() => choose({ ...search, before: data[0]?.seq })}>Older</Button>
        )}
        <span className={css.quiet}>
          {search.before === undefined ? 'The newest entries, live.' : 'Older entries.'}
        </span>
      </div>
    </Section>
  )
}

function Export({ search }: { search: AuditSearch }) {
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: async (format: 'ndjson' | 'csv') => {
      const entries = await allOf(search)
      if (format === 'csv') save('audit.csv', 'text/csv', csv(entries))
      else save('audit.ndjson', 'application/x-ndjson', ndjson(entries))
      return entries.length
    },
  })
  const limit = data !== undefined && data >= EXPORT_MOST ? ', the newest' : ''
  return (
    <>
      <Button icon={Download} disabled={isPending} title="All matching entries" onClick={() => mutate('csv')}>
        CSV
      </Button>
      <Button icon={Download} disabled={isPending} title="All matching entries" onClick={() => mutate('ndjson')}>
        NDJSON
      </Button>
      {error && (
        <p role="alert" className={form.problem}>
          {sentence(error)}
        </p>
      )}
      <span role="status" className="visually-hidden">
        {data === undefined ? '' : `${count(data)} entries were saved${limit}.`}
      </span>
    </>
  )
}
