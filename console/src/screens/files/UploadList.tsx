import { Check, X } from 'lucide-react'
import type { Upload, Uploads } from '~/store/uploads'
import { Button } from '~/ui/Button'
import { bytes, plain } from '~/ui/format'
import { useNotifier } from '~/ui/use-notifier'
import css from './UploadList.module.css'

/** Uploads in progress, and their results. */
export function UploadList({ uploads }: { uploads: Uploads }) {
  useNotifier(uploads.notifier)
  if (uploads.all.length === 0) return null
  const isOver = uploads.all.every((upload) => upload.state !== 'waiting' && upload.state !== 'sending')
  return (
    <section className={css.box} aria-label="Uploads">
      <div className={css.head}>
        <h2>Uploads</h2>
        <Button look="quiet" onClick={() => uploads.clear()} disabled={!isOver}>
          Clear
        </Button>
      </div>
      <ul>
        {uploads.all.map((upload) => (
          <li key={upload.id} className={css.upload}>
            <div className={css.line}>
              <span className={css.name} title={upload.path}>
                {plain(upload.path)}
              </span>
              <Outcome upload={upload} uploads={uploads} />
            </div>
            {upload.state === 'sending' && (
              <progress max={Math.max(1, upload.size)} value={upload.sent} aria-label={`Upload of ${upload.path}`} />
            )}
            {upload.problem !== '' && (
              <p role="alert" className={css.problem}>
                {upload.problem}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Outcome({ upload, uploads }: { upload: Upload; uploads: Uploads }) {
  switch (upload.state) {
    case 'waiting':
    case 'sending':
      return (
        <>
          <span className={css.aside}>
            {upload.state === 'waiting' ? 'waiting' : `${bytes(upload.sent)} of ${bytes(upload.size)}`}
          </span>
          <Button look="quiet" compact icon={X} onClick={() => uploads.cancel(upload.id)}>
            Cancel
          </Button>
        </>
      )
    case 'done':
      return (
        <span className={css.done}>
          <Check size={14} aria-hidden /> {bytes(upload.size)}
        </span>
      )
    case 'exists':
      return (
        <>
          <span className={css.aside}>exists already</span>
          <Button look="danger" onClick={() => uploads.replace(upload.id)}>
            Replace
          </Button>
        </>
      )
    case 'cancelled':
    case 'failed':
      return (
        <>
          <span className={css.aside}>{upload.state}</span>
          <Button look="quiet" onClick={() => uploads.retry(upload.id)}>
            Again
          </Button>
        </>
      )
  }
}
